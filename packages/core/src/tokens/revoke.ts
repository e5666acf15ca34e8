import * as v from 'valibot'
import { parseConfiguration } from '../configuration.ts'
import type { Recorder } from '../events/trace.ts'
import type { Families } from './family.ts'
import type { RevocationEpochs } from './revocation-epochs.ts'

/** Whose tokens: of a user, of a client, or of one authorization, by the claim `grant_id` of its tokens. */
export type RevocationTarget =
  | { readonly subject: string }
  | { readonly clientId: string }
  | { readonly family: string }

/**
 * Refuses everything that was issued to the target so far: codes, refresh tokens, access and identity tokens, and what is being issued from them at this
 * instant. It holds when it resolves, on every server of the same store. One record is written and nothing is looked for, so a target that nobody
 * knows is no error. What begins afterwards (a new login) works.
 *
 * @throws TypeError when there is not exactly one of `subject`, `clientId` and `family`; OAuthError `temporarily_unavailable` when the storage fails: ask again.
 * @example
 * await provider.revoke({ subject: 'u-1' })
 */
export type Revoke = (target: RevocationTarget) => Promise<void>

const name = v.exactOptional(
  v.pipe(
    v.string('must be text'),
    v.minLength(1, 'must not be empty'),
    v.maxLength(512, 'must be at most 512 characters'),
  ),
)
const targetSchema = v.pipe(
  v.strictObject(
    { subject: name, clientId: name, family: name },
    'must be one of { subject }, { clientId } and { family }',
  ),
  v.check((target) => Object.keys(target).length === 1, 'must be one of { subject }, { clientId } and { family }'),
)

export function createRevoke(deps: {
  readonly revocationEpochs: RevocationEpochs
  readonly families: Families
  readonly recorder: Recorder
}): Revoke {
  const { revocationEpochs, families, recorder } = deps
  return async (target) => {
    const { subject, clientId, family } = parseConfiguration(targetSchema, target, 'revoke()')
    const trace = recorder.start('revoke')
    if (family !== undefined) await families.revokeByName(family, 'revocation_requested', trace)
    if (subject !== undefined) {
      await revocationEpochs.begin('subject', subject)
      recorder.record(trace, { type: 'subject_revoked', sub: subject })
    }
    if (clientId !== undefined) {
      await revocationEpochs.begin('client', clientId)
      recorder.record(trace, { type: 'client_revoked', clientId })
    }
  }
}
