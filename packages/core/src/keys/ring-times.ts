import { documentLifetime } from '../http/answer.ts'

/** Seconds after which nothing is signed, verified or published without having looked into the store, unless looking fails. */
export const staleAfter = 60

/** Seconds that a next key is published before it may sign, at least: every process knows it then, and every cache that was filled before has ended. */
export const publishedFor = documentLifetime + staleAfter
