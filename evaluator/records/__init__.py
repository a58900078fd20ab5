"""Records: what crosses between identities and stays for good. Pure: values in, values and bytes out."""
