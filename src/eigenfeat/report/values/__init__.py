"""What a report shows, as frozen values: each module measures one thing and knows nothing of pages."""
