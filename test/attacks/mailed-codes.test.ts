/**
 * Attack: a stranger lets a mail be sent to the address of a user, and guesses its code of eight digits in the own browser:
 * many codes, many mails, many addresses, all at the same moment; or locks the user out with wrong codes.
 *
 * NIST SP 800-63B-4 section 3.2.2: at most 100 wrong guesses in a row.
 */
import { sealing } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { createTestProvider } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { createMailed, isMailedCode } from '../../plugins/shared/mailed-code.ts'
import { createBrowser } from '../authorization/browser.ts'
import { codeIn, linkIn, problemOf, setUpAccounts, titleOf, wrongCode } from '../self-service/parties.ts'
import { kitOf, kitPlugin } from '../support/kit-of.ts'
import { withLatency } from '../support/latency.ts'

const address = 'alice@example.com'
const proved = 'Choose a new password'
const limits = { perAddress: 1000, perNetwork: 1000 }

describe('the code of a mail', () => {
  test('19.4 ends after five wrong ones, also for the right one', async () => {
    const f = await setUpAccounts({ limits })
    const { ask, submit } = await f.start()
    const sent = await ask('forgot', address)
    const code = codeIn(await f.lastMail())
    for (let guess = 0; guess < 5; guess += 1) {
      expect(problemOf(await submit(sent, { code: wrongCode(code) }))).toContain('The code is wrong')
    }
    expect(titleOf(await submit(sent, { code }))).toBe('Check your email')
  })

  test('is compared with five of 40 that are entered at the same moment', async () => {
    const storage = withLatency(memoryDriver())
    const { provider, clock } = await createTestProvider({ storage, plugins: [sealing, kitPlugin('test')] })
    const kit = kitOf(provider, 'test')
    const { code, stored } = await createMailed({ counts: true, expiresAt: clock.now() + 900 }, kit)
    const outcomes = await Promise.all(Array.from({ length: 40 }, () => isMailedCode(stored, code, kit)))
    expect(outcomes.filter((isRight) => isRight)).toHaveLength(5)
  })

  test('is refused after 40 wrong ones at the same moment, of which at most ten are taken for guesses', async () => {
    const f = await setUpAccounts({ limits }, { provider: { storage: withLatency(memoryDriver()) } })
    const { ask, submit } = await f.start()
    const sent = await ask('forgot', address)
    const code = codeIn(await f.lastMail())
    await Promise.all(Array.from({ length: 40 }, () => submit(sent, { code: wrongCode(code) })))
    expect(titleOf(await submit(sent, { code }))).toBe('Check your email')
    expect(
      f.events.filter((event) => event.type === 'mail_proof_failed' && event.reason === 'wrong_code').length,
    ).toBeLessThanOrEqual(10)
  })

  test('19.4 can be guessed ten times in 15 minutes and 50 times in a row, with other mails, browsers and addresses', async () => {
    const f = await setUpAccounts({ limits })
    const guess = async (host: number) => {
      const { ask, submit } = await f.start({}, createBrowser(f.provider, `198.51.100.${host}`))
      const sent = await ask('forgot', address)
      const code = codeIn(await f.lastMail())
      return { page: await submit(sent, { code: wrongCode(code) }), right: () => submit(sent, { code }) }
    }
    let answered = 0
    for (let window = 0; window < 7; window += 1) {
      for (let host = 1; host <= 11; host += 1) if ((await guess(host)).page.status === 200) answered += 1
      f.clock.advance(901)
    }
    expect(answered).toBe(50)
    const { page, right } = await guess(99)
    expect(page.status).toBe(429)
    expect((await right()).status).toBe(429)
    // Then five after each wait, which doubles.
    for (const wait of [3600, 7200, 14_400]) {
      f.clock.advance(wait)
      let more = 0
      for (let host = 1; host <= 8; host += 1) if ((await guess(host)).page.status === 200) more += 1
      expect(more).toBe(5)
    }
    f.clock.advance(28_800)
    expect((await (await guess(7)).right()).status).toBe(200)
  })

  test('that cannot be entered any more leaves the link of the owner', async () => {
    const f = await setUpAccounts({ limits })
    for (let host = 1; host <= 11; host += 1) {
      const { ask, submit } = await f.start({}, createBrowser(f.provider, `198.51.100.${host}`))
      await submit(await ask('forgot', address), { code: wrongCode(codeIn(await f.lastMail())) })
    }
    const owner = await f.start()
    await owner.ask('forgot', address)
    expect(titleOf(await owner.browser.open(linkIn(await f.lastMail())))).toBe(proved)
  })

  test('is not accepted where mails have links only, and links are not where they have codes only', async () => {
    const links = await setUpAccounts({ mail: 'link' })
    const linkVisit = await links.start()
    const sent = await linkVisit.ask('by-mail', address)
    expect(codeIn(await links.lastMail())).toBe('')
    expect(sent.html).not.toContain('name="code"')
    const codes = await setUpAccounts({ mail: 'code' })
    const codeVisit = await codes.start()
    const page = await codeVisit.ask('by-mail', address)
    expect(linkIn(await codes.lastMail())).toBe('')
    const confirm = await codeVisit.submit(page, { code: codeIn(await codes.lastMail()) })
    expect(titleOf(confirm)).toBe('Sign in as alice')
    expect((await codeVisit.submit(confirm, {})).html).toContain('Signed in as alice')
  })
})
