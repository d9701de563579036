"""XSD values: numbers, moments, durations, and the calendar behind them."""
