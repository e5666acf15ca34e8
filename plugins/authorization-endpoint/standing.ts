import type { EndpointKit } from '@grantry/core'
import * as v from 'valibot'
import type { CheckedRequest } from './request.ts'

/** Seconds; the longest `interactionLifetime`, so nothing waits longer for its user. */
export const maxInteractionLifetime = 86_400

const text = v.string()

/**
 * The state of a user when the user was authenticated: values that change when the user is revoked, or when all sessions
 * of the user end. What a user has proved or decided carries it, and has no effect once it is outdated.
 */
export interface Standing {
  readonly epoch?: string | undefined
  readonly generation?: string | undefined
}

export const standingEntries = { epoch: v.exactOptional(text), generation: v.exactOptional(text) }

const generationKeyOf = (sub: string): string => `generation of ${sub}`

/** Returns the state that a value carries, and nothing else, as it is stored. */
export const standingIn = ({ epoch, generation }: Standing): Readonly<Record<string, string>> => ({
  ...(epoch !== undefined && { epoch }),
  ...(generation !== undefined && { generation }),
})

/** Returns the current state of a user. Read it before what it protects, so that a later revocation has an effect. */
export async function standingOf(kit: EndpointKit, sub: string): Promise<Standing> {
  const [epoch, generation] = await Promise.all([kit.epochOf(sub), kit.records.get(generationKeyOf(sub), text)])
  return standingIn({ epoch, generation })
}

/** Whether the user was revoked, or all sessions have ended, since. */
export const isOutdated = (carried: Standing, { epoch, generation }: Standing): boolean =>
  (epoch !== undefined && epoch !== carried.epoch) || (generation !== undefined && generation !== carried.generation)

/**
 * Makes everything that carries an earlier state of the user outdated.
 *
 * @param lifetime seconds for which sessions live
 */
export const endStanding = (kit: EndpointKit, sub: string, lifetime: number): Promise<void> =>
  // Tickets can live longer than sessions.
  kit.records.put(generationKeyOf(sub), kit.randomId(), kit.now() + Math.max(lifetime, maxInteractionLifetime))

const schema = v.object({
  scopes: v.array(v.string()),
  claims: v.array(v.string()),
  /** The epoch of the user: a thief of the password could have consented before a revocation. */
  epoch: v.exactOptional(v.string()),
})

/** What users have consented to. */
export interface Consents {
  /**
   * Whether the user need not be asked: the user has consented to everything that the request asks for, and neither
   * `prompt=consent` nor another application that could have sent the request requires the question. Always for clients
   * with `requireConsent: false`.
   */
  suffice(kit: EndpointKit, sub: string, request: CheckedRequest): Promise<boolean>
  /**
   * Adds to what the user has consented to before.
   *
   * @param standing the state of the user at the sign-in: nothing is remembered if the user was revoked since
   */
  remember(
    kit: EndpointKit,
    sub: string,
    request: CheckedRequest,
    scopes: readonly string[],
    standing?: Standing,
  ): Promise<void>
}

/** The names of the claims that the request asks for individually. */
export const requestedClaims = ({ claims }: CheckedRequest): readonly string[] => [
  ...new Set([...claims.userinfo, ...claims.identityToken].map(({ name }) => name)),
]

const keyOf = (sub: string, { client }: CheckedRequest): string => `consent:${JSON.stringify([sub, client.clientId])}`

const union = (one: readonly string[], other: readonly string[]): string[] => [...new Set([...one, ...other])]

/**
 * Whether another application could have sent the request: without a secret, only the host of an `https` redirect URI
 * proves which one receives the code. Any application of the device can use a private-use scheme or a port.
 *
 * @see RFC 6749 section 10.2; RFC 8252 section 8.6
 */
const isImpersonable = ({ client, redirectUri }: CheckedRequest): boolean =>
  client.public && !/^https:/iu.test(redirectUri)

/** @param lifetime seconds after which the user is asked again */
export function createConsents(lifetime: number): Consents {
  /** Returns what the user has consented to since the last revocation, and the epoch. */
  async function read(kit: EndpointKit, sub: string, request: CheckedRequest) {
    const [found, epoch] = await Promise.all([kit.records.get(keyOf(sub, request), schema), kit.epochOf(sub)])
    const isCurrent = epoch === undefined || epoch === found?.epoch
    return { given: isCurrent ? found : undefined, epoch }
  }

  return {
    async suffice(kit, sub, request) {
      if (request.client.requireConsent === false) return true
      if (request.prompts.has('consent') || isImpersonable(request)) return false
      const { given } = await read(kit, sub, request)
      if (given === undefined) return false
      const { scopes, claims } = given
      return (
        request.scopes.every((scope) => scopes.includes(scope)) &&
        requestedClaims(request).every((claim) => claims.includes(claim))
      )
    },

    async remember(kit, sub, request, granted, standing) {
      const { given, epoch } = await read(kit, sub, request)
      if (epoch !== undefined && standing !== undefined && epoch !== standing.epoch) return
      const consent = {
        scopes: union(given?.scopes ?? [], granted),
        claims: union(given?.claims ?? [], requestedClaims(request)),
        ...(epoch !== undefined && { epoch }),
      }
      await kit.records.put(keyOf(sub, request), consent, kit.now() + lifetime)
    },
  }
}
