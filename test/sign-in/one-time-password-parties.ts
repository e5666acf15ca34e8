import { createHash, createHmac } from 'node:crypto'
import { recoveryCodes, totp } from '@grantry/plugins/one-time-password'
import type { SignInOptions } from '@grantry/plugins/sign-in'
import type { TestProviderOptions } from '@grantry/testing'
import { createBrowser, hiddenFields, type Page } from '../authorization/browser.ts'
import { offerKit } from '../support/kit-of.ts'
import { setUpSignIn } from './parties.ts'

/** The secret of RFC 6238 appendix B, "12345678901234567890" in base32. */
export const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

/** The password at a time (epoch seconds), as an authenticator app calculates it. */
export function passwordAt(seconds: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(seconds / 30)))
  const mac = createHmac('sha1', '12345678901234567890').update(counter).digest()
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 15) & 0x7f_ff_ff_ff
  return String(number % 1_000_000).padStart(6, '0')
}

export const recoveryCode = 'AAAA-BBBB-CCCC-DDDD'
const recoveryHash = createHash('sha256').update('AAAABBBBCCCCDDDD').digest('base64url')

/** Alice has an authenticator app and a recovery code; bob has neither. */
export async function setUpFactors(options: Partial<SignInOptions> = {}, more: Partial<TestProviderOptions> = {}) {
  const secondFactors = [
    totp({ secretOf: (sub) => (sub === 'alice' ? secret : undefined) }),
    recoveryCodes({ hashesOf: (sub) => (sub === 'alice' ? [recoveryHash] : []) }),
  ]
  const f = await setUpSignIn({ secondFactors, ...options }, more, {
    features: [{ parts: () => [offerKit('authorization-endpoint')] }],
  })
  /** Enters the password, and returns what sends a code. */
  async function passed(parameters: Readonly<Record<string, string>> = {}, from?: string) {
    const { browser, enter } = await f.start(
      parameters,
      from === undefined ? undefined : createBrowser(f.provider, from),
    )
    let page = await enter('alice')
    return {
      browser,
      page,
      async enterCode(code: string, fields: Readonly<Record<string, string>> = {}): Promise<Page> {
        const form = { ...hiddenFields(page), code, ...fields }
        page = await browser.submit(`${f.provider.issuer}/connect/secondfactor`, form)
        return page
      },
    }
  }
  return { ...f, passed }
}
