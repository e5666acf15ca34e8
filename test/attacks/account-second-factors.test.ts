/**
 * Attack: a thief takes over the second factor of an account: with the code of a page that was seen, a code that was used,
 * a secret of another user, a page of a removed app; or sets up two apps in two tabs; or keeps one that was set up while
 * the user was revoked.
 *
 * RFC 6238 section 5.2; decision 165.
 */

import type { AtomicDriver } from '@grantry/core'
import { secondFactors } from '@grantry/plugins/sign-in'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { codeAt, codesIn, codesUri, secretIn, setUpFactors, setUpUri } from '../account/factors.ts'
import { accountUri, issuer } from '../account/parties.ts'
import { hiddenFields } from '../authorization/browser.ts'
import { withLatency } from '../support/latency.ts'

test('the code that has confirmed an app does not sign the user in as well', async () => {
  const { signedIn, setUpApp, browser, enter, now } = await setUpFactors()
  const { secret } = await setUpApp((await signedIn()).browser)
  const thief = browser()
  const asked = await enter(thief, await thief.open(accountUri))
  const fields = { ...hiddenFields(asked), code: codeAt(secret, now()) }
  expect((await thief.submit(`${issuer}/connect/secondfactor`, fields)).html).toContain('The code is wrong')
})

test('the page of an app that was removed does not set it up again', async () => {
  const { signedIn, send, now, clock } = await setUpFactors()
  const { browser } = await signedIn()
  const page = await browser.open(setUpUri)
  const secret = secretIn(page)
  await send(browser, page, { code: codeAt(secret, now()) })
  await send(browser, await browser.open(`${accountUri}/otp/remove`))
  clock.advance(60)
  const again = await send(browser, page, { code: codeAt(secret, now()) })
  expect(codesIn(again)).toEqual([])
  expect((await browser.open(accountUri)).html).toContain('Not set up')
})

test('the secret of the page of another user, or of the attacker, is refused', async () => {
  const { signedIn, now } = await setUpFactors()
  const { browser: bob } = await signedIn('bob')
  const { browser } = await signedIn()
  const foreign = await bob.open(setUpUri)
  const fields = hiddenFields(await browser.open(setUpUri))
  const code = codeAt(secretIn(foreign), now())
  for (const pending of [hiddenFields(foreign).pending ?? '', 'x', '']) {
    expect((await browser.submit(setUpUri, { ...fields, pending, code })).status).toBe(400)
  }
  expect((await browser.open(accountUri)).html).toContain('Not set up')
})

test('of 20 tabs that set up an app at the same time, one does', async () => {
  const { signedIn, send, now } = await setUpFactors({ storage: withLatency(memoryDriver()) })
  const { browser } = await signedIn()
  const pages = await Promise.all(Array.from({ length: 20 }, () => browser.open(setUpUri)))
  const replies = await Promise.all(pages.map((page) => send(browser, page, { code: codeAt(secretIn(page), now()) })))
  expect(replies.filter((reply) => codesIn(reply).length === 10)).toHaveLength(1)
})

test('an app that was set up while the user was revoked does not stay', async () => {
  const { signedIn, send, now, provider, stored } = await setUpFactors({ storage: withLatency(memoryDriver()) })
  const { browser } = await signedIn()
  const page = await browser.open(setUpUri)
  const attempt = send(browser, page, { code: codeAt(secretIn(page), now()) })
  await provider.revoke({ subject: 'sub of alice' })
  await attempt
  expect(stored.factors).toHaveLength(2)
  const { page: after } = await signedIn()
  expect(after.html).toContain('Not set up')
})

describe('recovery codes that were created while an administrator', () => {
  /** `act` runs before the new codes of a thief are stored. Returns the page for a new sign-in, and what the thief got. */
  async function createdDuring(act: (f: Awaited<ReturnType<typeof setUpFactors>>) => Promise<unknown>) {
    const store = memoryDriver()
    let before: (() => Promise<unknown>) | undefined
    const storage: AtomicDriver = {
      ...store,
      async replaceItem(key, change) {
        const run = /"hashes"/u.test(change.to) ? before : undefined
        if (run !== undefined) before = undefined
        await run?.()
        return store.replaceItem(key, change)
      },
    }
    const f = await setUpFactors({ storage })
    const { browser: thief } = await f.signedIn()
    await f.setUpApp(thief)
    const form = await thief.open(codesUri)
    before = () => act(f)
    const codes = codesIn(await f.send(thief, form))
    expect(before).toBeUndefined()
    return { codes, page: (await f.signedIn()).page }
  }

  test('resets the factors do not stay', async () => {
    const { codes, page } = await createdDuring(async ({ provider }) => {
      await provider.revoke({ subject: 'sub of alice' })
      await provider.use(secondFactors).reset('sub of alice')
    })
    expect(codes).toEqual([])
    // Otherwise, the sign-in would ask for one of them.
    expect(page.html).toContain('Not set up')
  })

  test('revokes the user are not shown, and the app stays', async () => {
    const { codes, page } = await createdDuring(({ provider }) => provider.revoke({ subject: 'sub of alice' }))
    expect(codes).toEqual([])
    expect(page.html).toContain('name="code"')
  })
})

test('a wrong code sets up nothing, also a malformed one', async () => {
  const { signedIn, send } = await setUpFactors()
  const { browser } = await signedIn()
  for (const code of ['', '000000', '12345', 'x'.repeat(10_000), '１２３４５６']) {
    expect(codesIn(await send(browser, await browser.open(setUpUri), { code }))).toEqual([])
  }
  expect((await browser.open(accountUri)).html).toContain('Not set up')
})
