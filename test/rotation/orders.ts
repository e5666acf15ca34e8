import type { KeyInfo, ProviderEvent } from '@grantry/core'

/** What every process of the service is started with. */
export interface Setting {
  readonly url: string
  /** Milliseconds since the epoch at which all clocks began, and how many seconds pass for them in one. */
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

/** What came of tokens that were shown to a process, and to an API that has the keys from it. */
export interface Verdicts {
  readonly accepted: number
  /** Their time was over when they were shown: a machine that is busy for seconds. */
  readonly late: number
  readonly refused: readonly string[]
}

export interface Answers {
  issue: readonly string[]
  validate: Verdicts
  list: readonly KeyInfo[]
  /** Whether it was this one, another one at the same moment, or refused because another one was first. */
  rotate: 'done' | 'refused'
  events: readonly Extract<ProviderEvent, { readonly type: 'keys_rotated' }>[]
}
