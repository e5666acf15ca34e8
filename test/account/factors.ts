import { createHmac } from 'node:crypto'
import { storedSecondFactors } from '@grantry/plugins/one-time-password'
import type { TestProviderOptions } from '@grantry/testing'
import type { Page } from '../authorization/browser.ts'
import { offerKit } from '../support/kit-of.ts'
import { accountUri, type Browser, setUpAccount } from './parties.ts'

export const setUpUri = `${accountUri}/otp/set-up`
export const codesUri = `${accountUri}/recovery-codes`
export const encryptionSecrets = ['x'.repeat(32)]

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The code of an app, as RFC 6238 calculates it. */
export function codeAt(secret: string, time: number): string {
  const bits = [...secret].map((letter) => letters.indexOf(letter).toString(2).padStart(5, '0')).join('')
  const key = Uint8Array.from(bits.match(/.{8}/gu) ?? [], (byte) => Number.parseInt(byte, 2))
  const message = Buffer.alloc(8)
  message.writeBigUInt64BE(BigInt(Math.floor(time / 30)))
  const mac = createHmac('sha1', key).update(message).digest()
  return String((mac.readUInt32BE((mac[19] ?? 0) & 15) & 0x7f_ff_ff_ff) % 1_000_000).padStart(6, '0')
}

/** The secret that the page shows. */
export const secretIn = ({ html }: Pick<Page, 'html'>): string =>
  /id="key" dir="ltr">([^<]*)</u.exec(html)?.[1]?.replaceAll(' ', '') ?? ''

/** The recovery codes that the page shows. */
export const codesIn = ({ html }: Pick<Page, 'html'>): readonly string[] =>
  [...html.matchAll(/<code dir="ltr">([A-Z\d-]+)<\/code>/gu)].map(([, code = '']) => code)

export async function setUpFactors(provider: Partial<TestProviderOptions> = {}) {
  const stored = storedSecondFactors({ encryptionSecrets })
  const f = await setUpAccount({
    signIn: { secondFactors: stored.factors },
    account: { secondFactors: stored.account },
    endpoint: { features: [{ parts: () => [offerKit('authorization-endpoint')] }] },
    provider,
  })
  const now = () => Math.floor(f.clock.now())
  async function setUpApp(of: Browser) {
    const page = await of.open(setUpUri)
    const secret = secretIn(page)
    const done = await f.send(of, page, { code: codeAt(secret, now()) })
    return { secret, done }
  }
  return { ...f, stored, now, setUpApp }
}
