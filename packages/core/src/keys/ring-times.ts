import { documentLifetime } from '../http/answer.ts'

/** Seconds after which keys are not used or published without a new read from the storage, unless the read fails. */
export const staleAfter = 60

/**
 * The minimum time in seconds that a next key is published before it signs: by then every process knows it, and older
 * caches have expired.
 */
export const publishedFor = documentLifetime + staleAfter
