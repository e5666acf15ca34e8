// An attacker controls code that handles authorization requests: a plugin, or a page of the host with a mistake in it.
// It tries to store more than the provider has checked: with a proposal that it has made or changed itself, of another
// client or another provider, with scopes that were not proposed, a second time, or after the client was disabled or
// revoked. A proposal is opaque, single-use, and only as current as the client that it was opened with.
import type { ClientOptions, Proposal } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { proofKey } from '@grantry/plugins/proof-key'
import { createTestProvider } from '@grantry/testing'
import { expect, test } from 'vitest'
import { builtInPlugins, fixture, redirectUri, spaClientId, web } from '../support/fixture.ts'
import { kitOf, kitPlugin } from '../support/kit-of.ts'

const [clientId] = web
const request = { kind: 'code', clientId, redirectUri, scopes: ['openid', 'api1'] }
const subject = { sub: '1', amr: ['pwd'] }
const approval = { subject }

async function opened() {
  const f = await fixture()
  return { ...f, proposal: await f.provider.openAuthorization(request) }
}

const codes = ({ events }: Pick<Awaited<ReturnType<typeof fixture>>, 'events'>) =>
  events.filter(({ type }) => type === 'code_issued').length

test('a proposal shows what was checked, and cannot be changed', async () => {
  const { provider, proposal } = await opened()
  expect(proposal).toMatchObject({ client: { clientId }, redirectUri, scopes: ['openid', 'api1'] })
  for (const value of [proposal, proposal.scopes, proposal.client]) expect(Object.isFrozen(value)).toBe(true)
  await expect(provider.authorize(proposal, approval)).resolves.toMatch(/^[\w-]{43}$/u)
})

test.each<[string, (proposal: Proposal) => unknown]>([
  ['an object of the attacker', ({ client }) => ({ client, redirectUri, scopes: ['api2'] })],
  ['a copy with more scopes', (proposal) => ({ ...proposal, scopes: ['openid', 'api2'] })],
  ['a copy', (proposal) => structuredClone(proposal)],
  ['an object that inherits from a proposal', (proposal) => Object.create(proposal)],
  ['a proxy', (proposal) => new Proxy(proposal, {})],
  ['the request itself', () => request],
  ['the request with its approval', () => ({ ...request, ...approval })],
  ['nothing', () => undefined],
  ['a text', () => 'proposal'],
])('%s is no proposal', async (_name, forge) => {
  const f = await opened()
  await expect(f.provider.authorize(forge(f.proposal) as Proposal, approval)).rejects.toThrow(TypeError)
  expect(codes(f)).toBe(0)
})

test('a request with its approval in one argument is no proposal', async () => {
  const f = await fixture()
  const authorize = f.provider.authorize as (grant: object) => Promise<string>
  await expect(authorize({ ...request, ...approval })).rejects.toThrow(TypeError)
  expect(codes(f)).toBe(0)
})

test('kits and the provider have the same two functions', async () => {
  const { provider } = await fixture({ plugins: [...builtInPlugins, kitPlugin('x')] })
  const { openAuthorization, authorize } = kitOf(provider, 'x')
  expect(openAuthorization).toBe(provider.openAuthorization)
  expect(authorize).toBe(provider.authorize)
})

test('a proposal of another provider with the same client is none', async () => {
  const [here, elsewhere] = [await opened(), await opened()]
  await expect(here.provider.authorize(elsewhere.proposal, approval)).rejects.toThrow(TypeError)
  expect(codes(here)).toBe(0)
})

test('a proposal can be authorized once, also by concurrent calls', async () => {
  const f = await opened()
  const results = await Promise.allSettled([1, 2, 3].map(() => f.provider.authorize(f.proposal, approval)))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
  await expect(f.provider.authorize(f.proposal, approval)).rejects.toThrow(TypeError)
  expect(codes(f)).toBe(1)
})

test.each([
  ['that was not proposed', ['openid', 'api2']],
  ['besides all that were', ['openid', 'api1', 'offline_access']],
  ['that does not exist', ['constructor']],
])('a user cannot authorize a scope %s', async (_name, scopes) => {
  const f = await opened()
  const refused = { code: 'invalid_scope', details: { reason: 'scope_escalation' } }
  await expect(f.provider.authorize(f.proposal, { subject, scopes })).rejects.toMatchObject(refused)
  expect(codes(f)).toBe(0)
})

test.each([
  ['another client', { clientId: 'other' }],
  ['another redirect URI', { redirectUri: 'https://evil.example/' }],
  ['no challenge', { params: {}, demands: {} }],
  ['other keys', { confirmation: {} }],
  ['another kind', { kind: 'device' }],
  ['a longer lifetime', { lifetime: 86_400 }],
])('an approval cannot name %s', async (_name, more) => {
  const f = await opened()
  const refused = { code: 'invalid_request', details: { reason: 'malformed_approval' } }
  await expect(f.provider.authorize(f.proposal, { ...approval, ...more } as never)).rejects.toMatchObject(refused)
  expect(codes(f)).toBe(0)
})

test('a request that changes after it was opened has no effect', async () => {
  const f = await fixture()
  const mutable = { ...request, redirectUri, scopes: ['openid'], params: { nonce: 'n' } }
  const opening = f.provider.openAuthorization(mutable)
  Object.assign(mutable, { clientId: 'other', redirectUri: 'https://other.example.com/callback' })
  mutable.scopes.push('api2')
  const code = await f.provider.authorize(await opening, approval)
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
  expect((await f.post('token', form, web)).body.scope).toBe('openid')
})

test('a client that the attacker has made, or found elsewhere, is looked up instead', async () => {
  const [f, foreign] = [await fixture(), await fixture({ plugins: [...builtInPlugins, kitPlugin('x')] })]
  const evil = 'https://evil.example/'
  const real = await kitOf(foreign.provider, 'x').findClient(clientId)
  if (real === undefined) throw new Error('no client')
  for (const client of [{ ...real, redirectUris: [evil] }, Object.create(real, { redirectUris: { value: [evil] } })]) {
    const opening = f.provider.openAuthorization({ ...request, redirectUri: evil }, client)
    await expect(opening).rejects.toMatchObject({ details: { reason: 'redirect_uri_mismatch' } })
  }
  // A confidential client in place of a public one, which needs a challenge.
  const opening = f.provider.openAuthorization({ ...request, clientId: spaClientId }, real)
  await expect(opening).rejects.toMatchObject({ details: { reason: 'plugin:proof-key:challenge_required' } })
})

/** A provider whose clients are in a database that an operator changes. */
async function database() {
  let [elapsed, lookUps] = [0, 0]
  let row: ClientOptions | undefined = {
    clientId,
    public: true,
    grantTypes: ['authorization_code'],
    scopes: ['openid', 'api1', 'api2'],
    redirectUris: [redirectUri],
  }
  const change = (more: Partial<ClientOptions>) => {
    row = { ...(row as ClientOptions), ...more }
  }
  const find = () => {
    lookUps += 1
    return row
  }
  const test = await createTestProvider({
    plugins: [authorizationCode(), proofKey(), kitPlugin('x')],
    clients: { find },
    runtime: { elapsed: () => elapsed },
  })
  const params = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' }
  return {
    ...test,
    request: { ...request, params },
    change,
    pass: (seconds: number) => {
      elapsed += seconds * 1000
    },
    lookUps: () => lookUps,
  }
}

test('a proposal, and a client, that are kept for later are checked again', async () => {
  const d = await database()
  const client = await kitOf(d.provider, 'x').findClient(clientId)
  const [kept, narrowed] = [
    await d.provider.openAuthorization(d.request),
    await d.provider.openAuthorization(d.request),
  ]
  d.pass(11)
  d.change({ scopes: ['openid'] })
  const lost = { code: 'invalid_scope', details: { reason: 'scope_not_allowed' } }
  await expect(d.provider.authorize(narrowed, { subject, scopes: ['openid'] })).rejects.toMatchObject(lost)
  d.change({ enabled: false })
  const unknown = { code: 'unauthorized_client', details: { reason: 'client_unknown' } }
  await expect(d.provider.authorize(kept, approval)).rejects.toMatchObject(unknown)
  await expect(d.provider.openAuthorization(d.request, client)).rejects.toMatchObject(unknown)
  expect(codes(d)).toBe(0)
})

test('a scope that the client gets while the user decides is not authorized', async () => {
  const d = await database()
  d.change({ scopes: ['openid', 'api1'] })
  const { scopes: _, ...asked } = d.request
  const proposal = await d.provider.openAuthorization({ ...asked, scope: 'openid api1 api2' })
  d.pass(11)
  d.change({ scopes: ['openid', 'api1', 'api2'] })
  const code = await d.provider.authorize(proposal, approval)
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, client_id: clientId }
  const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
  expect((await d.post('token', { ...form, code_verifier: verifier })).body.scope).toBe('openid api1')
})

test('without a pause, a request and its decision look the client up once', async () => {
  const d = await database()
  await d.provider.authorize(await d.provider.openAuthorization(d.request), approval)
  expect(d.lookUps()).toBe(1)
})

test('a revocation of the client or the user since then ends a proposal', async () => {
  const f = await fixture({ plugins: [...builtInPlugins, kitPlugin('x')] })
  const kit = kitOf(f.provider, 'x')
  const epochs = async () => ({
    client: (await kit.epochOfClient(clientId)) ?? null,
    sub: (await kit.epochOf('1')) ?? null,
  })
  const before = await epochs()
  const open = async () => f.provider.openAuthorization({ ...request, clientEpoch: before.client })
  const [first, second] = [await open(), await open()]
  await f.provider.authorize(await open(), { subject, subjectEpoch: before.sub })
  await f.provider.revoke({ subject: '1' })
  const revoked = { code: 'login_required', details: { reason: 'subject_revoked' } }
  await expect(f.provider.authorize(first, { subject, subjectEpoch: before.sub })).rejects.toMatchObject(revoked)
  await f.provider.revoke({ clientId })
  const current = (await epochs()).sub
  const clientRevoked = { code: 'access_denied', details: { reason: 'client_revoked' } }
  await expect(f.provider.authorize(second, { subject, subjectEpoch: current })).rejects.toMatchObject(clientRevoked)
  expect(codes(f)).toBe(1)
})
