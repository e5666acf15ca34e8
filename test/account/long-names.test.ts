// Names of users and services that are long, or in other alphabets: what is only shown is shortened, and never a failure.
import { totpUri } from '@grantry/plugins/one-time-password'
import { describe, expect, test } from 'vitest'
import { qrCode } from '../../packages/pages/src/account/qr-code.ts'
import { codeAt, codesIn, secretIn, setUpFactors, setUpUri } from './factors.ts'
import { addUri, optionsIn, setUpPasskeys } from './passkeys.ts'

const names = {
  'plain letters': 'a'.repeat(200),
  Cyrillic: 'ж'.repeat(30),
  'a mail address': `${'п'.repeat(64)}@${'б'.repeat(50)}.example`,
  Chinese: '漢'.repeat(40),
  emoji: '👩‍🚀'.repeat(20),
  'half of a pair': `a\ud800${'b'.repeat(100)}`,
  'colons and slashes': ':/?#&='.repeat(30),
}
const anyPassword = {
  authenticate: ({ username }: { readonly username: string }) => ({ sub: `sub of ${username.length}` }),
  claims: () => ({}),
}

describe('the URI of an app', () => {
  const longer = { ...names, 'one that is cut within a pair': `${'a'.repeat(541)}👩` }
  test.each(Object.entries(longer))('fits into a QR code for %s', (_, name) => {
    for (const service of ['id.example.com', `${'s'.repeat(60)}.${'t'.repeat(60)}.example`, 'ж'.repeat(40)]) {
      const uri = totpUri('A'.repeat(32), service, name)
      expect([uri.length <= 271, qrCode(uri)?.length]).toEqual([true, expect.any(Number)])
      const { pathname, searchParams } = new URL(uri)
      const shown = decodeURIComponent(/:([^:]*)$/u.exec(pathname)?.[1] ?? '').replace('\ufffd', '\ud800')
      expect(name.startsWith(shown.replace('…', ''))).toBe(true)
      expect(shown.endsWith('…') || shown === name).toBe(true)
      expect([...shown].length).toBeGreaterThan(6)
      expect(searchParams.get('secret')).toBe('A'.repeat(32))
    }
  })

  test('keeps a name that fits', () => {
    expect(totpUri('A'.repeat(32), 'id.example.com', 'Анна')).toBe(
      `otpauth://totp/id.example.com:%D0%90%D0%BD%D0%BD%D0%B0?secret=${'A'.repeat(32)}&issuer=id.example.com`,
    )
  })
})

describe('a user with a long name', () => {
  test.each(Object.entries(names))('sets up an app: %s', async (_, name) => {
    const { signedIn, send, now } = await setUpFactors({ users: anyPassword })
    const { browser } = await signedIn(name)
    const page = await browser.open(setUpUri)
    expect([page.status, page.html.includes('<svg id="qr"')]).toEqual([200, true])
    expect(codesIn(await send(browser, page, { code: codeAt(secretIn(page), now()) }))).toHaveLength(10)
  })

  test.each(Object.entries(names))('adds a passkey: %s', async (_, name) => {
    const { signedIn, enrol } = await setUpPasskeys({ users: anyPassword })
    const { browser } = await signedIn(name)
    expect(optionsIn(await browser.open(addUri)).user.name.length).toBeGreaterThan(6)
    expect((await enrol(browser)).html).toContain('The passkey is added')
  })
})
