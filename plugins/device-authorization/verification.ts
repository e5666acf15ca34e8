import { configurationObject, type EndpointKit, hostKey, isOAuthError, type Subject } from '@grantry/core'
import * as v from 'valibot'
import { wholeNumber, wholeSeconds } from '../shared/config-schema.ts'
import { rememberSite } from '../shared/known-sites.ts'
import { unprovedTime } from '../shared/unproved-time.ts'
import { noteAuthorization } from '../shared/user-authorizations.ts'
import { type DeviceRecord, deviceRecords } from './device-records.ts'
import { groupedUserCode, typedUserCode } from './user-code.ts'

/** What the page shows to the user before the decision. */
export interface DeviceRequest {
  /** The code as the device shows it. The user should compare it (RFC 8628 section 5.4). */
  readonly userCode: string
  readonly clientId: string
  /** The requested scopes. */
  readonly scopes: readonly string[]
  /** Epoch seconds. */
  readonly expiresAt: number
}

export interface DeviceApproval {
  readonly subject: Subject
  /** Whether `subject.authTime` is known to be when the user authenticated, as in a session. Default: `true`. */
  readonly provesTime?: boolean | undefined
  /** The scopes that the user consented to. Default: the requested ones. */
  readonly scopes?: readonly string[] | undefined
  /** The epoch of the user (`kit.epochOf`) when the page was shown. Default: the one when `approve` is called. */
  readonly epoch?: string | undefined
}

/**
 * The functions of a page where users enter the codes of their devices. Each takes what the user typed, and the address
 * of the user, not of the page's server: wrong codes are limited for each address.
 *
 * @throws OAuthError `slow_down` (429) after too many wrong codes, also for a right one.
 */
export interface DeviceVerification {
  /** Returns `undefined` if the code is wrong, has expired, or was decided, or its client was revoked since. */
  find(userCode: string, clientAddress: string): Promise<DeviceRequest | undefined>
  /**
   * Gives the device the tokens of the user. Returns `false` if `find` would return `undefined`.
   *
   * @throws OAuthError as `authorize` does, such as `invalid_scope` for a scope that was not requested.
   */
  approve(userCode: string, clientAddress: string, approval: DeviceApproval): Promise<boolean>
  /**
   * Returns `false` if `find` would return `undefined`.
   *
   * @param sub who has denied it, for the event, if a user is signed in
   */
  deny(userCode: string, clientAddress: string, sub?: string): Promise<boolean>
}

type Decided =
  | { readonly type: 'consent_given'; readonly scopes: readonly string[] }
  | { readonly type: 'authorization_denied' }

/**
 * The key of the functions of a page where users enter codes.
 *
 * @example
 * const request = await provider.use(deviceVerification).find('wdjb mjht', clientAddress)
 */
export const deviceVerification = hostKey<DeviceVerification>(
  'device-verification',
  'deviceAuthorization() or, to the sign-in, deviceSignIn()',
)

/** RFC 8628 section 5.1: with 2.6e10 codes, 10 guesses in 10 minutes find one of a thousand pending codes once in 50 years. */
export const guessesSchema = configurationObject({
  failures: v.optional(wholeNumber(1, 100), 10),
  /** Seconds. */
  window: v.optional(wholeSeconds(1, 86_400), 600),
})

/** The number of wrong codes of one address that are answered in a window. */
export type GuessLimit = Readonly<v.InferOutput<typeof guessesSchema>>

async function assertActive(sub: string, kit: EndpointKit): Promise<void> {
  if (!(await kit.isUserActive(sub))) throw kit.refuse('login_required', 'The user must sign in', 'user_inactive')
}

function assertRequested(granted: readonly string[], { scopes }: DeviceRecord, { refuse }: EndpointKit): void {
  if (granted.every((scope) => scopes.includes(scope))) return
  throw refuse('invalid_scope', 'A scope was not requested', 'scope_not_requested')
}

/**
 * Returns the epoch of a user when the page was shown, or before the password was checked; `null` if the user had none
 * then, because the current epoch can come from a later revocation.
 */
function epochOf(approval: DeviceApproval, kit: EndpointKit, current: string | undefined): string | null | undefined {
  const epoch = 'epoch' in approval ? (approval.epoch ?? null) : kit.provedEpochOf(approval.subject)
  return epoch === undefined ? current : epoch
}

export function createDeviceVerification(kit: EndpointKit, guesses: GuessLimit): DeviceVerification {
  const records = deviceRecords(kit)
  const limit = { name: 'user_code', ...guesses }

  async function pending(code: string): Promise<DeviceRecord | undefined> {
    const request = await records.byUserCode(code)
    if (request === undefined || request.expiresAt <= kit.now()) return undefined
    const [decision, epoch] = await Promise.all([
      records.decisionOf(request.deviceHash),
      kit.epochOfClient(request.clientId),
    ])
    const isOfClient = epoch === undefined || epoch === request.clientEpoch
    return decision === undefined && isOfClient ? request : undefined
  }

  async function lookUp(typed: string, clientAddress: string): Promise<DeviceRecord | undefined> {
    const code = typedUserCode(typed)
    // A text that cannot be a code is no guess: typing mistakes must not lock out other users of the address.
    return code === undefined ? undefined : kit.limitGuesses(limit, clientAddress, () => pending(code))
  }

  /** Decides, and records what the user has decided if no other decision was faster. */
  async function decide(request: DeviceRecord, fact: Decided, clientAddress: string, sub?: string): Promise<boolean> {
    const approvedBy = fact.type === 'consent_given' ? sub : undefined
    const [isDecided, client] = await Promise.all([
      records.decide(request, approvedBy),
      // The client is for the event only: a client store that fails must not undo the decision.
      kit.findClient(request.clientId).catch(() => undefined),
      // Remembers the site, so that strangers cannot use up the places of its next device.
      approvedBy !== undefined && clientAddress !== '' && rememberSite(clientAddress, kit).catch(() => undefined),
    ])
    if (isDecided) kit.recordUser(fact, { sub, client, ...(clientAddress !== '' && { clientAddress }) })
    return isDecided
  }

  return {
    async find(typed, clientAddress) {
      const request = await lookUp(typed, clientAddress)
      if (request === undefined) return undefined
      const { clientId, scopes, expiresAt } = request
      return { userCode: groupedUserCode(typedUserCode(typed) ?? ''), clientId, scopes, expiresAt }
    },

    async approve(typed, clientAddress, { subject, scopes, provesTime = true, ...shown }) {
      const [request, current] = await Promise.all([lookUp(typed, clientAddress), kit.epochOf(subject.sub)])
      const epoch = epochOf({ subject, ...shown }, kit, current)
      if (request === undefined) return false
      await assertActive(subject.sub, kit)
      const granted = scopes ?? request.scopes
      assertRequested(granted, request, kit)
      const { clientId, expiresAt, deviceHash, clientEpoch } = request
      const lifetime = Math.max(1, expiresAt - kit.now())
      const proposed = { kind: 'device', clientId, scopes: granted, lifetime, clientEpoch: clientEpoch ?? null }
      // Comes before the reservation: a user who cannot approve must not keep others from approving.
      const proposal = await kit.openAuthorization(proposed)
      if (!(await records.claim(request, subject.sub))) return false
      // Comes before the grant, so that lists contain it even if this process dies. Other epochs refuse it.
      const epochs = { subject: epoch ?? undefined, client: clientEpoch }
      await noteAuthorization(kit, proposal, { sub: subject.sub, scopes: granted, epochs })
      try {
        await kit.authorize(proposal, {
          subject,
          ...(!provesTime && { claims: unprovedTime, identityClaims: unprovedTime }),
          credentialHash: deviceHash,
          subjectEpoch: epoch ?? null,
        })
      } catch (error) {
        // An earlier approval of the same user failed after this step.
        if (!isOAuthError(error) || error.details.reason !== 'credential_taken') throw error
      }
      // Comes after the grant, which needs this decision. An earlier denial wins.
      return decide(request, { type: 'consent_given', scopes: [...granted] }, clientAddress, subject.sub)
    },

    async deny(typed, clientAddress, sub) {
      const request = await lookUp(typed, clientAddress)
      return request !== undefined && decide(request, { type: 'authorization_denied' }, clientAddress, sub)
    },
  }
}
