/**
 * Attack: a thief adds a passkey of their own to the account of another user: with a response to another challenge, site or
 * page, with a recorded response, with the passkey of another user; or exceeds the limit by concurrent enrolments, or keeps
 * one that was added while an operator reset the user.
 *
 * WebAuthn Level 3 sections 7.1 and 13.4.3; decision 165.
 */

import { secondFactors } from '@grantry/plugins/sign-in'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { accountUri, linksTo } from '../account/parties.ts'
import { addUri, optionsIn, setUpPasskeys } from '../account/passkeys.ts'
import { hiddenFields } from '../authorization/browser.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'
import { withLatency } from '../support/latency.ts'

const device = (index: number) => createAuthenticator(Buffer.from(`passkey ${index}`).toString('base64url'))

describe('a passkey is not added', () => {
  test.each<[string, Parameters<ReturnType<typeof createAuthenticator>['register']>[1]]>([
    ['for another origin', { origin: 'https://evil.example' }],
    ['for another domain', { rpId: 'evil.example' }],
    ['without verification of the user', { flags: 0x41 }],
    ['without presence of the user', { flags: 0x44 }],
    ['by a response that signs in', { type: 'webauthn.get' }],
  ])('%s', async (_, change) => {
    const { signedIn, send } = await setUpPasskeys()
    const { browser } = await signedIn()
    const page = await browser.open(addUri)
    const credential = device(1).register(optionsIn(page).challenge, change)
    const refused = await send(browser, page, { credential, name: 'x' })
    expect(refused.html).toContain('The passkey was not added')
    expect(linksTo(await browser.open(accountUri), 'passkeys/')).toEqual([addUri])
  })

  test.each(['', '{}', 'x'.repeat(20_000), '{"id":"a","rawId":"a","type":"public-key","response":{}}', '[]', 'null'])(
    'by a malformed response: %.20s',
    async (credential) => {
      const { signedIn, send } = await setUpPasskeys()
      const { browser } = await signedIn()
      const refused = await send(browser, await browser.open(addUri), { credential })
      expect(refused.html).toContain('The passkey was not added')
    },
  )

  test('by a response to the challenge of another page, also of the same user', async () => {
    const { signedIn, send } = await setUpPasskeys()
    const { browser: thief } = await signedIn('bob')
    const { browser } = await signedIn()
    const [page, otherPage, thiefsPage] = [
      await browser.open(addUri),
      await browser.open(addUri),
      await thief.open(addUri),
    ]
    for (const { challenge } of [optionsIn(otherPage), optionsIn(thiefsPage)]) {
      const refused = await send(browser, page, { credential: device(1).register(challenge) })
      expect(refused.html).toContain('The passkey was not added')
    }
    expect(linksTo(await browser.open(accountUri), 'passkeys/')).toEqual([addUri])
  })

  test('by a recorded response, also after the passkey was removed', async () => {
    const { signedIn, send } = await setUpPasskeys()
    const { browser } = await signedIn()
    const page = await browser.open(addUri)
    const fields = { credential: device(1).register(optionsIn(page).challenge), name: 'x' }
    const added = await send(browser, page, fields)
    const [remove = ''] = linksTo(added, 'passkeys/').filter((url) => url.endsWith('/remove'))
    await send(browser, await browser.open(remove))
    expect((await send(browser, page, fields)).html).toContain('The passkey was not added')
    expect(linksTo(await browser.open(accountUri), 'passkeys/')).toEqual([addUri])
  })

  test('to a second user: a credential belongs to one', async () => {
    const { signedIn, enrol } = await setUpPasskeys()
    const key = device(1)
    expect((await enrol((await signedIn()).browser, key)).html).toContain('The passkey is added')
    const { browser: bob } = await signedIn('bob')
    expect((await enrol(bob, key)).html).toContain('This device already has a passkey')
    expect(linksTo(await bob.open(accountUri), 'passkeys/')).toEqual([addUri])
  })
})

test('a user cannot rename or remove the passkey of another user', async () => {
  const { signedIn, enrol } = await setUpPasskeys()
  const { browser: alice } = await signedIn()
  const links = linksTo(await enrol(alice), 'passkeys/').filter((url) => url !== addUri)
  const { browser: bob } = await signedIn('bob')
  expect(links).toHaveLength(2)
  for (const url of links) {
    const shown = await bob.open(url)
    expect([shown.url.href, hiddenFields(shown)]).toEqual([accountUri, {}])
    const { form_token = '' } = hiddenFields(await bob.open(addUri))
    expect((await bob.submit(url, { form_token, name: 'x' })).status).toBe(400)
  }
  expect(linksTo(await alice.open(accountUri), 'passkeys/')).toHaveLength(3)
})

test('of 30 concurrent enrolments, in two tabs of each session, 20 passkeys remain', async () => {
  const { signedIn, send } = await setUpPasskeys({ storage: withLatency(memoryDriver()) })
  const { browser } = await signedIn()
  const pages = await Promise.all(Array.from({ length: 30 }, () => browser.open(addUri)))
  const replies = await Promise.all(
    pages.map((page, index) => send(browser, page, { credential: device(index).register(optionsIn(page).challenge) })),
  )
  const added = replies.filter(({ html }) => html.includes('The passkey is added'))
  const full = replies.filter(({ html }) => html.includes('You have the most passkeys'))
  expect([added.length, full.length]).toEqual([20, 10])
  const listed = linksTo(await browser.open(accountUri), 'passkeys/').filter((url) => url.endsWith('/remove'))
  expect(listed).toHaveLength(20)
})

test('of 20 concurrent enrolments of one credential, one counts', async () => {
  const { signedIn, send } = await setUpPasskeys({ storage: withLatency(memoryDriver()) })
  const { browser } = await signedIn()
  const pages = await Promise.all(Array.from({ length: 20 }, () => browser.open(addUri)))
  const replies = await Promise.all(
    pages.map((page) => send(browser, page, { credential: device(1).register(optionsIn(page).challenge) })),
  )
  expect(replies.filter(({ html }) => html.includes('The passkey is added'))).toHaveLength(1)
  expect(linksTo(await browser.open(accountUri), 'passkeys/')).toHaveLength(3)
})

test('an enrolment during a reset by an operator leaves no passkey that signs in', async () => {
  const { signedIn, send, provider, passkeys } = await setUpPasskeys({ storage: withLatency(memoryDriver()) })
  const { browser } = await signedIn()
  const pages = await Promise.all(Array.from({ length: 10 }, () => browser.open(addUri)))
  const enrolments = pages.map((page, index) =>
    send(browser, page, { credential: device(index).register(optionsIn(page).challenge) }),
  )
  await provider.revoke({ subject: 'sub of alice' })
  await provider.use(secondFactors).reset('sub of alice')
  await Promise.all(enrolments)
  const { browser: again } = await signedIn()
  expect(linksTo(await again.open(accountUri), 'passkeys/')).toEqual([addUri])
  expect(passkeys.reset).toBeDefined()
})
