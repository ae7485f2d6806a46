"""What every day of the course uses: shop data, chat model, wire, self-test, authoring tools."""
