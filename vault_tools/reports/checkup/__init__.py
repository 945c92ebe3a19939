"""What the doctor looks at, place by place."""
