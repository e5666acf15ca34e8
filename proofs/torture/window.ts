/**
 * Seconds in which a refresh request may be retried. Half of the default, so that a short run reaches replays after the
 * window too.
 */
export const retryWindow = 5
