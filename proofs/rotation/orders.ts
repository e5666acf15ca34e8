import type { KeyInfo, ProviderEvent } from '@grantry/core'
import type { NetworkStore } from '../../test/support/network-stores.ts'

/** The start options of every process of the service. */
export interface Setting {
  readonly store: NetworkStore
  /** Milliseconds since the epoch at which all clocks started, and the number of their seconds per real second. */
  readonly base: number
  readonly speed: number
}

/** Seconds of the fast clock. */
export const rotateAfter = 900
export const accessTokenLifetime = 600

export type Order =
  | { readonly what: 'issue'; readonly count: number }
  | { readonly what: 'validate'; readonly tokens: readonly string[] }
  | { readonly what: 'list' }
  | { readonly what: 'rotate' }
  | { readonly what: 'events' }

/** The results of tokens that were presented to a process, and to an API that has its keys. */
export interface Verdicts {
  readonly accepted: number
  /** Tokens that had expired when they were presented: a machine may be busy for seconds. */
  readonly late: number
  readonly refused: readonly string[]
}

export interface Answers {
  issue: readonly string[]
  validate: Verdicts
  list: readonly KeyInfo[]
  /** Whether it was this one, another one at the same moment, or rejected because another one was first. */
  rotate: 'done' | 'refused'
  events: readonly Extract<ProviderEvent, { readonly type: 'keys_rotated' }>[]
}
