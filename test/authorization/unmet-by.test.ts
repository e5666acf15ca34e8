// What a page of the host has to demand of a user: the same as the endpoint, for each parameter of OpenID Connect Core.
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationRequests, loginPage } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { createTestProvider } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { alice, clients, redirectUri, request, web } from './parties.ts'

const claim = (name: string, more: object) => ({ claims: JSON.stringify({ id_token: { [name]: more } }) })

async function setUp() {
  const f = await createTestProvider({
    plugins: [authorizationCode(), proofKey(), refreshToken(), loginPage({ trusted: true })],
    clients: [...clients],
  })
  const requests = f.provider.use(authorizationRequests)
  async function parse(parameters: object) {
    const query = new URLSearchParams({ ...request, ...parameters })
    const checked = await requests.parse(new Request(`https://id.example.com/login?${query}`))
    if ('response' in checked) throw new Error('The request was refused')
    return checked
  }
  /** An identity token of a user, for a hint. */
  async function hintOf(sub: string): Promise<string> {
    const checked = await parse({})
    const decision = { subject: { sub, amr: ['pwd'] }, scopes: checked.scopes, trusted: true } as const
    const { response } = await requests.respond(checked, decision)
    const code = new URL(response.headers.get('location') ?? '').searchParams.get('code') ?? ''
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    return (await f.post('token', form, web)).body.id_token
  }
  return { ...f, requests, parse, hintOf }
}

const signIn = (refuse: string) => ({ refuse, canSignIn: true })
const refuse = (code: string) => ({ refuse: code, canSignIn: false })

/** What a request demands of a user who has signed in 20 seconds before it, and of one who has signed in since. */
const demands: readonly (readonly [string, object, object | undefined, object | undefined])[] = [
  ['nothing', {}, undefined, undefined],
  ['prompt=login', { prompt: 'login' }, signIn('login_required'), undefined],
  ['prompt=select_account', { prompt: 'select_account' }, signIn('account_selection_required'), undefined],
  ['prompt=consent', { prompt: 'consent' }, undefined, undefined],
  ['max_age=60', { max_age: '60' }, undefined, undefined],
  ['max_age=10', { max_age: '10' }, signIn('login_required'), undefined],
  ['max_age=0', { max_age: '0' }, signIn('login_required'), undefined],
  ['max_age=10 without a page', { max_age: '10', prompt: 'none' }, refuse('login_required'), undefined],
  ['its sub', claim('sub', { value: 'alice' }), undefined, undefined],
  ['another sub', claim('sub', { value: 'bob' }), signIn('login_required'), refuse('login_required')],
  ['its acr', claim('acr', { essential: true, value: 'silver' }), undefined, undefined],
  [
    'another acr',
    claim('acr', { essential: true, values: ['gold'] }),
    signIn('unmet_authentication_requirements'),
    refuse('unmet_authentication_requirements'),
  ],
  ['an acr that is a wish', claim('acr', { values: ['gold'] }), undefined, undefined],
  [
    'another acr without a page',
    { ...claim('acr', { essential: true, value: 'gold' }), prompt: 'none' },
    refuse('unmet_authentication_requirements'),
    refuse('unmet_authentication_requirements'),
  ],
]

describe('unmetBy() for a request that demands', () => {
  test.each(demands)('%s', async (_what, parameters, before, since) => {
    const { clock, requests, parse } = await setUp()
    const user = (authTime: number) => ({ ...alice, acr: 'silver', authTime })
    const early = user(clock.now() - 20)
    const checked = await parse(parameters)
    expect(requests.unmetBy(checked, early)).toEqual(before)
    clock.advance(5)
    expect(requests.unmetBy(checked, user(clock.now()))).toEqual(since)
    const { error } = await requests.respond(checked, { subject: early, scopes: checked.scopes, trusted: true })
    // Only the page knows whether the user has chosen the account.
    const chosen = (before as { refuse?: string } | undefined)?.refuse === 'account_selection_required'
    expect(error).toBe(chosen ? undefined : (before as { refuse?: string } | undefined)?.refuse)
  })

  test.each([
    ['a user', {}, signIn('login_required')],
    ['a user without a page', { prompt: 'none' }, refuse('login_required')],
  ])('%s, while no one is signed in', async (_what, parameters, expected) => {
    const { requests, parse } = await setUp()
    expect(requests.unmetBy(await parse(parameters), undefined)).toEqual(expected)
  })

  test('the user of a hint', async () => {
    const { clock, requests, parse, hintOf } = await setUp()
    const user = { ...alice, authTime: clock.now() - 20 }
    expect(requests.unmetBy(await parse({ id_token_hint: await hintOf('alice') }), user)).toBeUndefined()
    expect(requests.unmetBy(await parse({ id_token_hint: await hintOf('bob') }), user)).toEqual(
      signIn('login_required'),
    )
  })
})
