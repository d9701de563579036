"""RDF: terms and their texts, 64-bit ids (``ids``), XSD values (``xsd``), stream messages and formats.

``columns`` names the types of columns, ``terms`` has terms and variables, ``messages`` the one column bundle
in which messages travel. ``formats`` reads bytes into it. ``compiled`` loops are compiled when they are used.
"""

__all__ = ["columns", "compiled", "messages", "terms"]
