"""All histories of finite instances."""
