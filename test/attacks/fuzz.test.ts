/**
 * Attack: thousands of generated requests: valid ones, almost valid ones (a field dropped, doubled, poisoned, a token
 * in the wrong place) and garbage. The provider responds to all of them without a server error, and its responses
 * comply with RFC 6749 section 5.2.
 *
 * Every request is generated from its own seed. To repeat one that failed: `FUZZ_SEED=<its seed> npx vitest run
 * test/attacks/fuzz.test.ts`. For a long search: `FUZZ_COUNT=100000`.
 */

import { basic } from '@grantry/testing'
import { expect, test } from 'vitest'
import {
  api1,
  type Fixture,
  fixture,
  otherClient,
  proof,
  redirectUri,
  spaClientId,
  web,
  webJwt,
} from '../support/fixture.ts'
import { createRandom, type Random } from '../support/random.ts'

const repeated = process.env.FUZZ_SEED
const firstSeed = Number(repeated ?? 20_260_101)
const count = repeated === undefined ? Number(process.env.FUZZ_COUNT ?? 3000) : 1

// Lists of words in one string; the white space between them only separates.
const list = (text: string): string[] => text.trim().split(/\s+/u)
const words = [
  ...list('x 0 -1 null true [] {} __proto__ constructor toString % %zz %00 %0d%0a %c0%80 + & = ; * ../.. " \\ é € 😀'),
  ...list(
    `a.b.c .. eyJhbGciOiJub25lIn0.e30. ${web[0]} ${webJwt[0]} ${otherClient[0]} ${spaClientId} ${api1[0]} admin openid`,
  ),
  ...list('idp:x https://evil.example password refresh_token'),
  ...[
    '',
    ' ',
    'api1 api2',
    '\u0000',
    '\r\nx: y',
    '\u202e',
    '\ud800',
    'a'.repeat(43),
    'b'.repeat(600),
    'c'.repeat(2100),
  ],
]
const names =
  list(`grant_type scope code redirect_uri code_verifier username password acr_values refresh_token client_id
  client_secret token token_type_hint expectedScope access_token __proto__ constructor grant%5Ftype scope[] =`)
const paths = list(`/connect/token /connect/userinfo /connect/introspect /connect/accesstokenvalidation
  /connect/identitytokenvalidation /.well-known/openid-configuration /.well-known/oauth-authorization-server
  /.well-known/jwks / // /connect /connect/ /connect/token/ /CONNECT/TOKEN /connect%2ftoken /connect/%74oken
  /connect/./token /connect/x/../token //evil.example/connect/token /connect/token;x /connect/__proto__
  /connect/revocation /connect/${'x'.repeat(3000)}`)
const methods = list('GET POST POST POST HEAD OPTIONS PUT DELETE PATCH PROPFIND post oPtions')
const form = 'application/x-www-form-urlencoded'
const types = [form, `${form}; charset=utf-8`, form.toUpperCase(), 'application/json', 'text/plain', '', ';', 'x']
const schemes = ['Basic ', 'basic ', 'Bearer ', 'bearer ', 'DPoP ', 'Basic', 'Bearer  ', '', 'Digest ']
const headerNames = list(`origin access-control-request-method access-control-request-headers accept content-encoding
  content-length x-forwarded-for x-forwarded-host host cookie range x-http-method-override __proto__ constructor`)
const headerValues = [
  ...list('x null * https://web.example.com https://evil.example POST 0 99999999999 -1 gzip __proto__ 1.2.3.4'),
  ...['', '\xe9\xff', 'a, b', 'h'.repeat(9000)],
]

interface Sent {
  path: string
  method: string
  headers: [string, string][]
  form: [string, string][]
  body?: Uint8Array<ArrayBuffer>
}

const alice = { grant_type: 'password', username: 'alice', password: 'alice-password' }
// This user is throttled now and then for failed passwords; the tokens of alice must still be issued.
const bob = { grant_type: 'password', username: 'bob', password: 'bob-password' }
const redeeming = { grant_type: 'authorization_code', redirect_uri: redirectUri }

/** Tokens that are currently valid. */
async function fill(f: Fixture) {
  const scope = 'openid api1 offline_access'
  const reference = (await f.post('token', { ...alice, scope }, web)).body
  const jwt = (await f.post('token', { ...alice, scope }, webJwt)).body
  const identity = (await f.post('token', { ...redeeming, code: await f.code() }, web)).body.id_token
  return { access: reference.access_token, refresh: reference.refresh_token, jwt: jwt.access_token, identity } as const
}
type Purse = Awaited<ReturnType<typeof fill>>

/** A request that is valid, or was while its token was. */
async function rightRequest(r: Random, f: Fixture, { access, refresh, jwt, identity }: Purse): Promise<Sent> {
  const sent = (path: string, method: string, fields: Record<string, string>, authorization?: string): Sent => ({
    path: `/connect/${path}`,
    method,
    headers: authorization === undefined ? [] : [['authorization', authorization]],
    form: Object.entries(fields),
  })
  const token = (fields: Record<string, string>) => sent('token', 'POST', fields, basic(web))
  const either = r.pick(['GET', 'POST'])
  const forms: readonly (() => Sent | Promise<Sent>)[] = [
    () => token({ grant_type: 'client_credentials', scope: r.pick(['api1', 'api1 api2']) }),
    () => token({ ...bob, scope: 'openid', acr_values: 'idp:x' }),
    async () => token({ ...redeeming, code: await f.code() }),
    async () =>
      token({ ...redeeming, code: await f.code({ codeChallenge: proof.challenge }), code_verifier: proof.verifier }),
    () => token({ grant_type: 'refresh_token', refresh_token: refresh }),
    () => sent('userinfo', either, {}, `Bearer ${r.pick([access, jwt])}`),
    () => sent('introspect', 'POST', { token: r.pick([access, jwt, refresh]) }, basic(api1)),
    () => sent('accesstokenvalidation', either, { token: r.pick([access, jwt]), expectedScope: 'api1' }),
    () => sent('identitytokenvalidation', either, { token: identity, client_id: web[0] }),
  ]
  return r.pick(forms)()
}

/** Applies one mistake or attack. */
function spoil(r: Random, sent: Sent, purse: Purse): void {
  const values = [...words, ...Object.values(purse)]
  const field = sent.form.length === 0 ? undefined : r.pick(sent.form)
  const poison = () => {
    if (field !== undefined) field[1] = r.pick(values)
  }
  const ways: readonly (() => unknown)[] = [
    poison,
    poison,
    poison,
    () => sent.form.splice(r.below(sent.form.length + 1), 1),
    () => field && sent.form.push([...field]),
    () => sent.form.push([r.pick(names), r.pick(values)]),
    () => Object.assign(sent, { method: r.pick(methods) }),
    () => Object.assign(sent, { path: r.pick(paths) }),
    () => sent.headers.push(['content-type', r.pick(types)]),
    () => sent.headers.push([r.pick(headerNames), r.pick(headerValues)]),
    () => Object.assign(sent, { headers: sent.headers.filter(([name]) => name !== 'authorization') }),
    () => {
      const pair = Buffer.from(`${r.pick(values)}:${r.pick(values)}`).toString('base64')
      const credentials = [pair, ...values].filter((value) => /^[\x20-\x7e]*$/u.test(value))
      sent.headers.push(['authorization', r.pick(schemes) + r.pick(credentials)])
    },
    () => Object.assign(sent, { body: Uint8Array.from({ length: r.pick([0, 1, 50, 3000]) }, () => r.below(256)) }),
    () => {
      const many = `${r.pick(names)}=${r.pick(words)}&`.repeat(r.pick([1, 3, 12_000]))
      sent.body = Buffer.from(many.slice(0, 70_000))
    },
  ]
  r.pick(ways)()
}

function requestOf(sent: Sent): Request {
  const encoded = new URLSearchParams(sent.form).toString()
  const reads = ['GET', 'HEAD'].includes(sent.method.toUpperCase())
  const headers = new Headers()
  if (!reads) headers.set('content-type', form)
  for (const [name, value] of sent.headers) {
    if (name === 'content-type') headers.set(name, value)
    else headers.append(name, value)
  }
  const url = `https://id.example.com${sent.path}${reads && encoded !== '' ? `?${encoded}` : ''}`
  return new Request(url, { method: sent.method, headers, ...(!reads && { body: sent.body ?? encoded }) })
}

const text = /^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/u

/** Throws if the response violates a rule. Not `expect`, which takes longer than the request. */
async function judge(response: Response, request: Request): Promise<void> {
  const { status, headers } = response
  const raw = await response.text()
  const { pathname } = new URL(request.url)
  const must = (holds: boolean, rule: string): void => {
    if (!holds) throw new Error(`${rule}, but: ${status} ${JSON.stringify([...headers])} ${raw.slice(0, 1000)}`)
  }
  const mustHave = (name: string, value: string): void => must(headers.get(name) === value, `${name} must be ${value}`)

  must(status >= 200 && status < 500, 'the status must be 200 to 499')
  if (pathname.startsWith('/connect/')) mustHave('cache-control', 'no-store')
  const challenge = headers.get('www-authenticate') ?? ''
  if (status === 401) must(/^(?:Basic|Bearer) realm="[^"]+"/u.test(challenge), 'a 401 must have a challenge')
  if (status === 405) must(headers.has('allow'), 'a 405 must have an Allow header')
  for (const secret of ['web-secret', 'alice-password', 'bob-password', '    at ']) {
    must(!raw.includes(secret), 'the body must not contain a secret or a stack')
  }
  const bare = status === 401 && challenge === 'Bearer realm="https://id.example.com"'
  if (status === 404 && request.method === 'HEAD') return
  if (request.method === 'HEAD' || status === 204 || bare) return must(raw === '', 'the body must be empty')
  mustHave('content-type', 'application/json')
  mustHave('x-content-type-options', 'nosniff')
  const body = JSON.parse(raw)
  if (status < 400) return
  must(Object.keys(body).join() === 'error,error_description', 'the body must be an error and its description')
  must(/^[a-z_]+$/u.test(body.error), 'the error must be a code')
  must(text.test(body.error_description), 'the description must have only the characters of RFC 6749')
}

test(`${count} requests get responses that comply with the protocol`, async () => {
  const f = await fixture()
  const seen = new Map<string, number>()
  let good = await fill(f)
  for (let index = 0; index < count; index += 1) {
    // A new minute and new tokens now and then, because the requests above have used up the old ones.
    if (index % 25 === 0 && index > 0) {
      f.clock.advance(60)
      good = await fill(f)
      f.events.length = 0
    }
    const seed = firstSeed + index
    const r = createRandom(seed)
    const sent = await rightRequest(r, f, good)
    for (let times = r.pick([0, 1, 1, 1, 2, 2, 3, 6]); times > 0; times -= 1) spoil(r, sent, good)
    const shown = `seed ${seed}: ${JSON.stringify({ ...sent, body: sent.body && Buffer.from(sent.body).toString('base64') })}`
    try {
      const request = requestOf(sent)
      const response = await f.provider.fetch(request)
      await judge(response, request)
      const key = `${new URL(request.url).pathname.replace(/^\/connect\/(\w+)$/u, '$1')} ${response.status}`
      seen.set(key, (seen.get(key) ?? 0) + 1)
    } catch (cause) {
      throw new Error(shown, { cause })
    }
  }
  if (repeated !== undefined) return
  // The generator reaches both outcomes at every endpoint; otherwise the test above would prove little.
  for (const endpoint of ['token', 'userinfo', 'introspect', 'accesstokenvalidation', 'identitytokenvalidation']) {
    expect(seen.get(`${endpoint} 200`), `${endpoint} 200`).toBeGreaterThan(30)
    expect(seen.get(`${endpoint} 400`), `${endpoint} 400`).toBeGreaterThan(10)
    expect(seen.get(`${endpoint} 413`), `${endpoint} 413`).toBeGreaterThan(1)
    expect(seen.get(`${endpoint} 415`), `${endpoint} 415`).toBeGreaterThan(2)
  }
  for (const endpoint of ['token', 'userinfo', 'introspect']) expect(seen.get(`${endpoint} 401`)).toBeGreaterThan(20)
})
