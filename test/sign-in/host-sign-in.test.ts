import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationRequests, loginPage } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { createTestProvider } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { alice, clients, request } from '../authorization/parties.ts'
import { setUp as setUpPush } from '../pushed-authorization/parties.ts'

const login = 'https://id.example.com/login'
const isCode = { code: expect.any(String), state: request.state }
const isTooOld = { error: 'login_required', state: request.state }

/** A host with a login page of its own: it redirects there, and comes back. */
async function host() {
  const f = await createTestProvider({
    plugins: [authorizationCode(), proofKey(), refreshToken(), loginPage()],
    clients: [...clients],
  })
  const requests = f.provider.use(authorizationRequests)
  async function parse(query: string, form?: Readonly<Record<string, string>>) {
    const init = form && { method: 'POST', body: new URLSearchParams(form) }
    const checked = await requests.parse(new Request(`${login}${query}`, init))
    if ('response' in checked) throw new Error('refused')
    return checked
  }
  /** The response for a user who authenticated then. */
  async function respond(checked: Awaited<ReturnType<typeof parse>>, authTime: number) {
    const decision = { subject: { ...alice, authTime }, scopes: checked.scopes, consented: true } as const
    const { response } = await requests.respond(checked, decision)
    return Object.fromEntries(new URL(response.headers.get('location') ?? '').searchParams)
  }
  const queryOf = (more: object = {}) => `?${new URLSearchParams({ ...request, ...more })}`
  return { ...f, parse, respond, queryOf }
}

const demands = [{ prompt: 'login' }, { max_age: '0' }, { max_age: '1' }, { prompt: 'login', scope: 'openid groups' }]

describe.each(demands)('a page of the host that parses a request with %j again', (more) => {
  test.each([0, 1, 2, 60, 1700])('11.32 accepts the sign-in in between, %i seconds before', async (seconds) => {
    const { parse, respond, queryOf, clock } = await host()
    const first = await parse(queryOf(more))
    clock.advance(10)
    const authTime = clock.now()
    clock.advance(seconds)
    expect(await respond(await parse(first.query), authTime)).toMatchObject(isCode)
    expect(await respond(await parse('', { ...first.params, username: 'alice', step: '2' }), authTime)).toMatchObject(
      isCode,
    )
    const third = await parse((await parse(first.query)).query)
    expect([third.startedAt, third.query]).toEqual([first.startedAt, first.query])
  })

  test('11.32 does not accept a sign-in before the request', async () => {
    const { parse, respond, queryOf, clock } = await host()
    const authTime = clock.now()
    clock.advance(2)
    const first = await parse(queryOf(more))
    clock.advance(2)
    expect(await respond(await parse(first.query), authTime)).toMatchObject(isTooOld)
  })

  test('11.32 does not accept a sign-in before a later request, whose time it takes from another one', async () => {
    const { parse, respond, queryOf, clock } = await host()
    const first = await parse(queryOf(more))
    const authTime = clock.now()
    clock.advance(2)
    const start = { grantry_started: first.params.grantry_started }
    expect(await respond(await parse(queryOf({ ...more, ...start, state: 'x' })), authTime)).toMatchObject({
      ...isTooOld,
      state: 'x',
    })
    expect(await respond(await parse(queryOf({ ...more, grantry_started: 'x' })), authTime)).toMatchObject(isTooOld)
    clock.advance(1800)
    expect(await respond(await parse(first.query), authTime)).toMatchObject(isTooOld)
  })
})

test.each([
  ['the client', {}, ['strict', 'strict-secret']],
  ['all clients', { required: true }, ['web', 'web-secret']],
] as const)('11.32 refuses a request that was not pushed, if %s must push', async (_name, options, [client_id]) => {
  const { provider } = await setUpPush(options)
  const query = new URLSearchParams({ ...request, client_id, prompt: 'none' })
  const checked = await provider.use(authorizationRequests).parse(new Request(`${login}?${query}`))
  if (!('response' in checked)) throw new Error('accepted')
  const { searchParams } = new URL(checked.response.headers.get('location') ?? '')
  expect(Object.fromEntries(searchParams)).toMatchObject({ error: 'invalid_request', state: request.state })
})
