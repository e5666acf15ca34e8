import type { Credentials } from '@grantry/testing'

/** Where the contenders of a race keep their records. */
export type StoragePlace =
  | { readonly kind: 'memory' }
  | { readonly kind: 'filesystem'; readonly directory: string }
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'redis'; readonly url: string }
  | { readonly kind: 'postgresql'; readonly url: string }
  | { readonly kind: 'cluster'; readonly urls: readonly string[] }
  /** The negative control: it reads first and writes later. */
  | { readonly kind: 'forgetful' }

/** Its refresh tokens cannot be retried: every second use is outside the window. */
export const strict: Credentials = ['strict', 'web-secret']
/** Its refresh tokens can be retried for the duration of a race. */
export const retried: Credentials = ['retried', 'web-secret']
/** Its processes share a refresh token. */
export const sharing: Credentials = ['sharing', 'web-secret']
export const api: Credentials = ['api1', 'api1-secret']

/** Authenticates by assertions. */
export const signingClientId = 'signing'

/** Authenticate by tokens of a job, each of which works once, and of a pod. */
export const workloads = { job: 'https://jobs.example.com', pod: 'https://cluster.example.com' } as const

/** A credential of which many racers present the same. */
export type Credential = 'code' | 'refresh' | 'device' | 'assertion' | 'proof' | 'id-jag' | 'job' | 'pod'

/** A request to a contender. */
export type Order =
  | { readonly what: 'prepare'; readonly credential: Credential; readonly as: Credentials }
  | {
      readonly what: 'race'
      readonly form: Readonly<Record<string, string>>
      /** Absent if the form authenticates the client. */
      readonly as?: Credentials | undefined
      readonly headers: Readonly<Record<string, string>>
      readonly racers: number
    }
  | { readonly what: 'introspect'; readonly token: string }
  | { readonly what: 'refresh'; readonly token: string; readonly as: Credentials }

/** The results of the racers of one contender: the bodies of the successes, and a count of each error. */
export interface Answers {
  readonly granted: readonly string[]
  readonly refused: Readonly<Record<string, number>>
}
