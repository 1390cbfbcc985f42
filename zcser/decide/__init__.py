"""From measured figures to a decision: profiles, scores, fronts, crossovers, and the sentence that says what they show."""
