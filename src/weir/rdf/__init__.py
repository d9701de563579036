"""Terms and their 64-bit ids, XSD values, the dictionary, stream messages and formats."""
