// What the project reads from hosts of others and remembers. One table of places, so that a rule for one holds for all.

import { testClient } from '@grantry/testing'
import { createResourceServer } from '../../packages/resource-server/src/index.ts'
import * as assertions from '../client-assertion/assertions.ts'
import * as documents from '../client-metadata/parties.ts'
import * as bearer from '../jwt-bearer/bearer-parties.ts'
import * as api from '../resource-server/issuer.ts'
import { json } from '../upstream/openid-double.ts'
import { setUpUpstream } from '../upstream/parties.ts'
import * as workloads from '../workload-identity/parties.ts'
import {
  documentHost,
  keyHost,
  keys,
  type PublishedKeySet,
  type PublishedValue,
  passing,
  type Version,
} from './published-host.ts'
import type { IssuerKey } from './trusted-issuer.ts'

const headerOf = (kid: string | undefined) => ({ alg: 'RS256', ...(kid !== undefined && { kid }) })

type Host = Pick<PublishedKeySet, 'publish' | 'publishes' | 'respond' | 'fetches'>

const keySet = (
  host: Host,
  pass: PublishedValue['pass'],
  times: Pick<PublishedValue, 'pause' | 'renewal' | 'usable'>,
  accepts: PublishedKeySet['accepts'],
): PublishedKeySet => ({ ...host, ...times, pass, accepts, sees: (version) => accepts(keys[version]) })

const ofProvider = { pause: 30, renewal: 600, usable: 600 }

async function clientKeys(): Promise<PublishedKeySet> {
  const { fetch, ...host } = keyHost()
  const jwksUri = 'https://service.example.com/jwks.json'
  const f = await assertions.setUp({ jwksUri: { fetch } }, [assertions.client({ jwks: undefined, jwksUri })])
  return keySet(host, passing(f.clock.advance), ofProvider, async (key, kid) => {
    const time = f.clock.now()
    const claims = { ...assertions.claims(), iat: time, nbf: time, exp: time + 60 }
    return (await assertions.outcomeOf(f, await key.sign(claims, headerOf(kid))))[0] === 200
  })
}

async function issuerKeys(): Promise<PublishedKeySet> {
  const { fetch, ...host } = keyHost()
  let { now } = bearer
  const jwksUri = 'https://jwt-idp.example.com/keys'
  const f = await bearer.setUp({ jwks: undefined, jwksUri }, { jwksUri: { fetch } })
  const advance = (seconds: number) => {
    now += seconds
    f.at(now)
  }
  return keySet(host, passing(advance), ofProvider, async (key, kid) => {
    const token = await key.sign({ ...bearer.example, nbf: now - 60, exp: now + 300 }, headerOf(kid))
    return (
      (await f.post('token', { grant_type: bearer.grantType, assertion: token, scope: 'api1' }, testClient)).status ===
      200
    )
  })
}

async function workloadKeys(): Promise<PublishedKeySet> {
  const { fetch, ...host } = keyHost()
  const issuer = { platform: 'kubernetes', issuer: workloads.cluster, jwksUri: `${workloads.cluster}/keys` } as const
  const f = await workloads.setUp(
    { issuers: [issuer], jwksUri: { fetch } },
    { clients: [workloads.clients[2]].flatMap((client) => client ?? []) },
  )
  return keySet(host, passing(f.clock.advance), ofProvider, async (key, kid) => {
    const time = f.clock.now()
    const claims = { ...workloads.clusterClaims(), iat: time, nbf: time, exp: time + 300 }
    return (await workloads.outcomeOf(f, await key.sign(claims, headerOf(kid)), 'cluster'))[0] === 200
  })
}

/** An API whose host of keys is in memory. */
async function openApi() {
  const { fetch, ...host } = keyHost()
  const { test: t, api: server } = await api.createApi()
  t.responses.set(api.jwksUri, fetch)
  const pass = passing((seconds) => {
    t.now += seconds
  })
  async function signed(key: IssuerKey, kid?: string): Promise<string> {
    const claims = { iss: api.issuer, aud: api.audience, sub: 'alice', iat: t.now, exp: t.now + 3600 }
    const more = { client_id: 'web', jti: crypto.randomUUID() }
    return key.sign({ ...claims, ...more }, { ...headerOf(kid), typ: 'at+jwt' })
  }
  return { host, server, pass, signed }
}

async function apiKeys(): Promise<PublishedKeySet> {
  const { host, server, pass, signed } = await openApi()
  return keySet(host, pass, { pause: 5, renewal: 600, usable: 4200 }, async (key, kid) => {
    return (await server.authorize(api.bearing(await signed(key, kid)))).token !== undefined
  })
}

/** @param isLogout whether the tokens are logout tokens, which every caller can send */
async function upstreamKeys(isLogout: boolean): Promise<PublishedKeySet> {
  const { fetch, ...host } = keyHost()
  const intercept = ({ pathname }: URL) => (pathname.endsWith('/keys') ? fetch() : undefined)
  const f = await setUpUpstream({ double: { intercept } })
  async function logout(key: IssuerKey, kid: string | undefined): Promise<boolean> {
    const now = Math.floor(Date.now() / 1000)
    const stamped = { iss: f.double.issuer, aud: f.double.clientId, iat: now, exp: now + 300 }
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
    const claims = { ...stamped, sub: 'another-user', jti: crypto.randomUUID(), events }
    const token = await key.sign(claims, { ...headerOf(kid), typ: 'logout+jwt' })
    const init = { method: 'POST', body: new URLSearchParams({ logout_token: token }) }
    const request = new Request('https://id.example.com/connect/upstream/acme/logout', init)
    return (await f.provider.fetch(request, { clientAddress: '192.0.2.9' })).status === 200
  }
  // The library reads the clock of the machine, which the timers move.
  return keySet(
    host,
    passing(() => {}),
    ofProvider,
    async (key, kid) => {
      if (isLogout) return logout(key, kid)
      f.double.set({ signToken: (claims) => key.sign(claims, headerOf(kid)) })
      const before = f.events.filter(({ type }) => type === 'session_started').length
      await f.comeBack(await f.leave())
      return f.events.filter(({ type }) => type === 'session_started').length > before
    },
  )
}

async function upstreamMetadata(): Promise<PublishedValue> {
  const issuer = 'https://login.acme.example.com'
  const at = (version: Version) => `${issuer}/authorize-${version}`
  const rest = { token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/keys` }
  const { fetch, ...host } = documentHost((version) => ({ issuer, authorization_endpoint: at(version), ...rest }))
  const intercept = ({ pathname }: URL) => (pathname.endsWith('/openid-configuration') ? fetch() : undefined)
  const f = await setUpUpstream({ double: { intercept } })
  const sees = async (version: Version) => (await f.leave()).request.href.startsWith(`${at(version)}?`)
  return { ...host, pass: passing(() => {}), pause: 5, renewal: 3600, usable: 86_400, sees }
}

async function apiMetadata(): Promise<PublishedValue> {
  const t = await api.createIssuer()
  const { issuer, audience: aud } = api
  const at = (version: Version) => `${issuer}/introspect-${version}`
  const { fetch, ...host } = documentHost((version) => ({ issuer, introspection_endpoint: at(version) }))
  t.responses.set(api.metadataUrl, fetch)
  for (const version of ['first', 'second'] as const) t.responses.set(at(version), () => json({ active: true, aud }))
  const introspection = { clientId: 'a', clientSecret: 'b', maxAge: 0 }
  const server = createResourceServer({ ...t.options, jwt: false, introspection })
  const advance = (seconds: number) => {
    t.now += seconds
  }
  return {
    ...host,
    pass: passing(advance),
    pause: 5,
    renewal: 3600,
    usable: 90_000,
    async sees(version) {
      const { token } = await server.authorize(api.bearing(crypto.randomUUID()))
      return token !== undefined && t.fetched.at(-1) === at(version)
    },
  }
}

async function clientDocuments(): Promise<PublishedValue> {
  const at = (version: Version) => `https://app.example.com/${version}`
  const { fetch, ...host } = documentHost((version) => ({ ...documents.document, redirect_uris: [at(version)] }))
  const f = await documents.setUp(documents.createHosts({ [documents.clientId]: fetch }))
  const sees = async (version: Version) => (await f.authorize({ redirect_uri: at(version) })).code !== undefined
  return { ...host, pass: passing(f.clock.advance), pause: 10, renewal: 300, usable: 1800, sees }
}

export const keySets: readonly (readonly [string, () => Promise<PublishedKeySet>])[] = [
  ['keys of a client', clientKeys],
  ['keys of a trusted issuer', issuerKeys],
  ['keys of an issuer of workloads', workloadKeys],
  ['keys of an issuer at an API', apiKeys],
  ['keys of a provider, for identity tokens', () => upstreamKeys(false)],
  ['keys of a provider, for logout tokens', () => upstreamKeys(true)],
]

export const publishedValues: readonly (readonly [string, () => Promise<PublishedValue>])[] = [
  ...keySets,
  ['metadata of a provider', upstreamMetadata],
  ['metadata of an issuer at an API', apiMetadata],
  ['documents of clients', clientDocuments],
]

/** What an API reads, with requests that need it: all with one token. */
async function apiRequests() {
  const { host, server, pass, signed } = await openApi()
  const token = await signed(keys.first, 'first')
  const authorize = async (): Promise<number> => (await server.authorize(api.bearing(token))).response?.status ?? 200
  return { authorize, respond: host.respond, pass, renewal: 600 }
}

export const apiValues: readonly (readonly [string, typeof apiRequests])[] = [['keys at an API', apiRequests]]
