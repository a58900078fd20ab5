"""The only host code that speaks to a model guest: drives the wire, and believes nothing that comes back."""
