import * as v from 'valibot'
import { parseConfiguration } from '../config-schema.ts'
import type { Recorder } from '../events/recorder.ts'
import type { RevocationEpochs } from './revocation-epochs.ts'
import type { Families } from './stored-grant.ts'

/**
 * What to revoke: the tokens of a user, of a client, of a user at one client, or of one authorization (`family` is the claim
 * `grant_id` of its tokens, of this issuer).
 */
export type RevocationTarget =
  | { readonly subject: string; readonly clientId?: undefined }
  | { readonly subject: string; readonly clientId: string }
  | { readonly clientId: string }
  | { readonly family: string }

/**
 * Revokes everything that was issued to the target so far: codes, refresh tokens, access and identity tokens, and
 * tokens that are being issued from them; for a user, also the sessions of `authorizationEndpoint()`; for a user at one client,
 * also what the user has consented to. The revocation is in effect, on every server with the same storage, when the promise
 * resolves. It looks nothing up, so an unknown target is not an error. A later login works.
 *
 * @throws TypeError unless exactly one of `subject`, `clientId` and `family` is given, or `subject` and `clientId`.
 * @throws OAuthError `temporarily_unavailable` when the storage fails; try again.
 * @example
 * await provider.revoke({ subject: 'u-1' })
 */
export type Revoke = (target: RevocationTarget) => Promise<void>

const targets = 'must be one of { subject }, { clientId }, { subject, clientId } and { family }'
const name = v.exactOptional(
  v.pipe(
    v.string('must be a string'),
    v.minLength(1, 'must not be empty'),
    v.maxLength(512, 'must be at most 512 characters'),
  ),
)
const targetSchema = v.pipe(
  v.strictObject({ subject: name, clientId: name, family: name }, targets),
  v.check(({ family, ...others }) => (family === undefined) !== (Object.keys(others).length === 0), targets),
)

interface RevokeDeps {
  readonly revocationEpochs: RevocationEpochs
  readonly families: Families
  readonly recorder: Recorder
}

export function createRevoke({ revocationEpochs, families, recorder }: RevokeDeps): Revoke {
  return async (target) => {
    const { subject, clientId, family } = parseConfiguration(targetSchema, target, 'revoke()')
    const trace = recorder.start('revoke')
    if (family !== undefined) await families.revokeByName(family, 'revocation_requested', trace)
    if (subject !== undefined && clientId !== undefined) {
      await revocationEpochs.withdraw(subject, clientId)
      recorder.record(trace, { type: 'access_withdrawn', sub: subject, clientId })
    } else if (subject !== undefined) {
      await revocationEpochs.begin('subject', subject)
      recorder.record(trace, { type: 'subject_revoked', sub: subject })
    } else if (clientId !== undefined) {
      await revocationEpochs.begin('client', clientId)
      recorder.record(trace, { type: 'client_revoked', clientId })
    }
  }
}
