"""CTP-automata: many conjunctive queries matched against one stream."""
