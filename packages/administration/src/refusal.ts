import { configurationError } from '@grantry/core'

/**
 * Why a change was refused. `outdated`: someone else has changed the entry meanwhile. `unreadable`: a newer version, or
 * another program, has written it. `in_use`: other entries need it. `unsupported`: no installed plugin can make it.
 */
export type RefusalReason = 'not_found' | 'exists' | 'outdated' | 'invalid' | 'unreadable' | 'in_use' | 'unsupported'

export interface ChangeRefusal {
  readonly reason: RefusalReason
  /** The path of the wrong member, such as `redirectUris[0]`, if there is one. */
  readonly member?: string | undefined
}

/** The error of a change that was refused. Nothing was stored. The message is one sentence. */
export interface RefusedError extends TypeError {
  readonly refusal: ChangeRefusal
}

interface RefusedOptions {
  /** The path of the wrong member. */
  readonly member?: string | undefined
  /** More mistakes, which `configurationProblems()` returns, too. */
  readonly others?: readonly string[] | undefined
  readonly cause?: unknown
}

/** Creates the error of a change that is refused. */
export const refused = (
  reason: RefusalReason,
  message: string,
  { member, others = [], cause }: RefusedOptions = {},
): RefusedError =>
  Object.assign(configurationError([message, ...others], cause === undefined ? undefined : { cause }), {
    refusal: { reason, member },
  })

/** Returns why a change was refused; `undefined` for any other error, such as a failed storage. */
export const refusalOf = (thrown: unknown): ChangeRefusal | undefined =>
  thrown instanceof TypeError ? (thrown as Partial<RefusedError>).refusal : undefined
