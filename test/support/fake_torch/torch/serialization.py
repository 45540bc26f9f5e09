def save(obj, f):
    if obj == "fails":
        raise OSError("disk full")
    if isinstance(obj, list):
        for part in obj:
            save(part, f)
