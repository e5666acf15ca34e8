// A change that takes something away makes all processes read the client again. Each declared member has its row here: a new one
// fails until its row says what a change of it does.
import type { ClientOptions } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { takesAway } from '../../packages/administration/src/clients/client-type.ts'
import { describedMembers } from '../../scripts/configuration-schema.ts'

type Values = readonly [before: unknown, after: unknown]

const list: Values = [['a', 'b'], ['a']]
const text: Values = ['a', 'b']
const seconds: Values = [60, 30]
const demanded: Values = [false, true]
const allowed: Values = [true, false]

/** The change of each member that takes the most away. */
const takes: Readonly<Record<string, Values>> = {
  public: allowed,
  tokenEndpointAuthMethod: text,
  tokenEndpointAuthAudience: text,
  tokenEndpointAuthSigningAlg: text,
  grantTypes: list,
  scopes: list,
  redirectUris: list,
  postLogoutRedirectUris: list,
  allowedCorsOrigins: list,
  identityProviders: [['a'], ['a', 'b']],
  requirePkce: demanded,
  allowPlainPkce: allowed,
  jwks: [{ keys: [{ kid: 'a' }] }, { keys: [{ kid: 'b' }] }],
  jwksUri: text,
  dpopBoundAccessTokens: demanded,
  profile: [undefined, 'fapi2'],
  tlsClientAuthSubjectDn: text,
  tlsClientAuthSanDns: text,
  tlsClientAuthSanUri: text,
  tlsClientAuthSanIp: text,
  tlsClientAuthSanEmail: text,
  tlsClientCertificateBoundAccessTokens: demanded,
  requireConsent: demanded,
  defaultMaxAge: seconds,
  scopeChoice: demanded,
  selfDescribed: ['allow', 'ask'],
  requirePushedAuthorizationRequests: demanded,
  backchannelLogoutUri: text,
  backchannelLogoutSessionRequired: demanded,
  requireSecondFactor: demanded,
  workload: [{ issuer: 'a' }, { issuer: 'b' }],
}

/** No change of these takes anything away, or what ends is ended in another way. */
const takeNothing: Readonly<Record<string, Values>> = {
  clientId: text,
  // A disabled client is revoked.
  enabled: allowed,
  clientName: text,
  clientColor: text,
  clientUri: text,
  logoUri: text,
  policyUri: text,
  tosUri: text,
  contacts: list,
  initiateLoginUri: text,
  accessTokenFormat: ['reference', 'jwt'],
  accessTokenLifetime: seconds,
  identityTokenLifetime: seconds,
  identityTokenAlgorithm: text,
  authorizationCodeLifetime: seconds,
  userClaimsInIdentityToken: allowed,
  refreshToken: [{ usage: 'reuse' }, { usage: 'rotate' }],
}

const taken = (name: string, [before, after]: Values): boolean => {
  const [had, has] = [before, after].map((value) => ({ clientId: 'web', [name]: value }) as ClientOptions)
  return takesAway(had as ClientOptions, has as ClientOptions, 0)
}

describe('a change of a member of a client', () => {
  test('each declared member has a row', () => {
    const declared = Object.keys(describedMembers().clientTexts)
    expect(
      [...Object.keys(takes), ...Object.keys(takeNothing)].sort(),
      'add each new member to takes; or to takeNothing, and to harmless in packages/administration/src/clients/client-type.ts',
    ).toEqual([...declared].sort())
  })

  test.each(Object.entries(takes))('%s can take something away', (name, values) => {
    expect(taken(name, values)).toBe(true)
    expect(taken(name, [values[0], values[0]])).toBe(false)
  })

  test.each(Object.entries(takeNothing))('%s takes nothing away', (name, values) => {
    expect(taken(name, values)).toBe(false)
  })

  test('a member that is not known takes something away, unless it adds to a list', () => {
    expect(taken('xColor', text)).toBe(true)
    expect(taken('xColors', [['a'], ['a', 'b']])).toBe(false)
  })
})
