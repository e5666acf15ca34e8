// A client demands a second factor of its users. An attacker who knows only the password of a user, or has tokens from before
// the demand, must not get tokens of it: not with the session of another client, silently, by a refresh token, or by a factor
// that the password adds beside that of the user.
import type { ClientOptions } from '@grantry/core'
import { storedSecondFactors } from '@grantry/plugins/one-time-password'
import { storedPasskeys } from '@grantry/plugins/passkeys'
import { describe, expect, test } from 'vitest'
import { encryptionSecrets } from '../account/factors.ts'
import { accountUri, issuer, setUpAccount } from '../account/parties.ts'
import { addUri, optionsIn } from '../account/passkeys.ts'
import { answer } from '../authorization/browser.ts'
import { clients, request, web } from '../authorization/parties.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'

const [known, ...others] = clients
const bank = { ...known, clientId: 'bank', requireSecondFactor: true } as ClientOptions

async function setUp(more: readonly ClientOptions[] = [bank]) {
  const stored = storedSecondFactors({ encryptionSecrets })
  const passkeys = storedPasskeys()
  const current = new Map(
    [known, ...others, ...more].flatMap((client) => (client ? [[client.clientId, client] as const] : [])),
  )
  const f = await setUpAccount({
    signIn: { secondFactors: stored.factors, passkeys },
    account: { secondFactors: stored.account, passkeys },
    provider: { clients: { find: (id) => current.get(id) } },
  })
  const urlOf = (parameters: Readonly<Record<string, string>>): string =>
    `${issuer}/connect/authorize?${new URLSearchParams({ ...request, ...parameters })}`
  return { ...f, current, urlOf }
}

describe('without the second factor', () => {
  test('the session of another client leads to the set-up, and gives no code', async () => {
    const { signedIn, authorize, urlOf } = await setUp()
    const { browser } = await signedIn()
    expect((await authorize(browser)).status).toBe(200)
    const page = await browser.open(urlOf({ client_id: 'bank' }))
    expect(page.url.href).toContain(`${accountUri}/otp/set-up/`)
  })

  test('prompt=none is refused', async () => {
    const { signedIn, urlOf } = await setUp()
    const { browser } = await signedIn()
    const page = await browser.open(urlOf({ client_id: 'bank', prompt: 'none' }))
    expect(answer(page)).toMatchObject({ error: 'interaction_required' })
  })

  test('a refresh token from before the demand gives no tokens while it lasts', async () => {
    const { signedIn, authorize, current, post, events } = await setUp()
    const { browser } = await signedIn()
    const { refresh_token: token = '' } = (await authorize(browser)).body as Record<string, string>
    current.set('web', { ...known, requireSecondFactor: true } as ClientOptions)
    const refresh = () => post('token', { grant_type: 'refresh_token', refresh_token: token }, web)
    const refused = await refresh()
    expect([refused.status, refused.body]).toMatchObject([400, { error: 'invalid_grant' }])
    const reason = 'plugin:authorization-endpoint:second_factor_missing'
    expect(events).toContainEqual(expect.objectContaining({ type: 'endpoint_failed', reason }))
    // It is not spent: the operator can take the demand back.
    current.set('web', { ...known } as ClientOptions)
    expect((await refresh()).status).toBe(200)
  })

  test('the password of a user who has a passkey adds no factor', async () => {
    const { signedIn, send, browser: newBrowser, enter, urlOf } = await setUp()
    const { browser: alice } = await signedIn()
    const add = await alice.open(addUri)
    await send(alice, add, { credential: createAuthenticator().register(optionsIn(add).challenge) })
    const thief = newBrowser()
    await enter(thief, await thief.open(urlOf({ client_id: 'bank' })))
    for (const path of ['otp/set-up', 'passkeys/add']) {
      expect((await thief.open(`${accountUri}/${path}`)).html).toContain('name="password"')
    }
  })
})
