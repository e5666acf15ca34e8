import { configurationObject, type EndpointKit, parseConfiguration, webRuntime } from '@grantry/core'
import * as v from 'valibot'
import type { AccountSecondFactors } from '../shared/account-factors.ts'
import type { SecondFactor } from '../shared/second-factor.ts'
import { newRecoveryCodes, verifyRecoveryCode } from './recovery-codes.ts'
import { newTotpSecret, totpUri, usualTolerance, verifyTotp } from './totp.ts'

export interface StoredSecondFactorsOptions {
  /**
   * Encrypt the secrets of the apps: at least 32 characters each. The first one encrypts, all decrypt. Without the
   * right one, users cannot sign in with their apps.
   */
  readonly encryptionSecrets: readonly string[]
}

/** One-time passwords and recovery codes in the storage of the provider. */
export interface StoredSecondFactors {
  /** For `signIn({ secondFactors })`. */
  readonly factors: readonly SecondFactor[]
  /** For `accountPage({ secondFactors })`. */
  readonly account: AccountSecondFactors
}

const secret = v.pipe(v.string('must be a string'), v.minLength(32, 'must have at least 32 characters'))

export const storedSecondFactorsSchema = configurationObject({
  encryptionSecrets: v.pipe(
    v.array(secret, 'must be an array of secrets'),
    v.minLength(1, 'must have at least one secret'),
    v.maxLength(10, 'must have at most 10 secrets'),
  ),
})

/** Seconds: ten years. */
const lifetime = 315_360_000

const appSchema = v.object({ sealed: v.string() })
const opened = v.object({ sub: v.string(), secret: v.string() })
const codesSchema = v.object({ hashes: v.array(v.string()) })

const appKeyOf = (sub: string): string => `authenticator app of ${sub}`
const codesKeyOf = (sub: string): string => `recovery codes of ${sub}`

const ivLength = 12
const toText = (data: Uint8Array): string => btoa(String.fromCharCode(...data))
const toBytes = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))

/**
 * Encrypts what is stored for years. `kit.seal` cannot: a rotation of the signing keys makes it unreadable. The user is in
 * the text, so that a record cannot be moved to another user.
 */
function createSafe(secrets: readonly string[]) {
  const { sha256, randomBytes, encrypt, decrypt } = webRuntime
  const keys = secrets.map((text) => new Uint8Array(sha256(new TextEncoder().encode(`authenticator apps\n${text}`))))
  return {
    async seal(value: v.InferOutput<typeof opened>): Promise<string> {
      const iv = new Uint8Array(randomBytes(ivLength))
      const [key = new Uint8Array()] = keys
      const encrypted = await encrypt(key, iv, new TextEncoder().encode(JSON.stringify(value)))
      return `${toText(iv)}.${toText(encrypted)}`
    },
    async open(sealed: string, sub: string): Promise<string | undefined> {
      const [iv = '', data = ''] = sealed.split('.')
      for (const key of keys) {
        const text = await Promise.resolve(decrypt(key, toBytes(iv), toBytes(data))).catch(() => undefined)
        const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), opened), text && new TextDecoder().decode(text))
        if (parsed.success && parsed.output.sub === sub) return parsed.output.secret
      }
      return undefined
    },
  }
}

const readApp = (sub: string, kit: EndpointKit) => kit.records.get(appKeyOf(sub), appSchema)
const readHashes = async (sub: string, kit: EndpointKit) =>
  (await kit.records.get(codesKeyOf(sub), codesSchema))?.hashes ?? []

async function removeAll(sub: string, kit: EndpointKit): Promise<void> {
  await Promise.all([kit.records.delete(appKeyOf(sub)), kit.records.delete(codesKeyOf(sub))])
}

/**
 * One-time passwords and recovery codes that users set up on their account page, in the storage of the provider.
 *
 * @throws TypeError when an option is malformed.
 */
export function storedSecondFactors(options: StoredSecondFactorsOptions): StoredSecondFactors {
  const { encryptionSecrets } = parseConfiguration(storedSecondFactorsSchema, options, 'storedSecondFactors()')
  const safe = createSafe(encryptionSecrets)
  const app: SecondFactor = {
    amr: 'otp',
    limitsHostCalls: true,
    // Also if it cannot be decrypted: the factor must not vanish with the secret of the operator.
    isSetUp: async (sub, kit) => (await readApp(sub, kit)) !== undefined,
    async verify(sub, code, kit) {
      const stored = await readApp(sub, kit)
      const found = stored && (await safe.open(stored.sealed, sub))
      return found !== undefined && verifyTotp({ secret: found, sub, code }, kit, usualTolerance)
    },
    reset: removeAll,
  }
  const codes: SecondFactor = {
    amr: 'otp',
    limitsHostCalls: true,
    isSetUp: async (sub, kit) => (await readHashes(sub, kit)).length > 0,
    verify: async (sub, code, kit) => verifyRecoveryCode({ hashes: await readHashes(sub, kit), sub, code }, kit),
    reset: removeAll,
  }
  return {
    factors: [app, codes],
    account: {
      async state(sub, kit) {
        const [stored, hashes] = await Promise.all([readApp(sub, kit), readHashes(sub, kit)])
        return { app: stored !== undefined, codes: hashes.length > 0 }
      },
      newSecret: newTotpSecret,
      uriOf: totpUri,
      async confirm({ sub, secret: text, code }, kit) {
        if ((await readApp(sub, kit)) !== undefined) return 'known'
        if (!(await verifyTotp({ secret: text, sub, code }, kit, usualTolerance))) return 'wrong_code'
        const sealed = await safe.seal({ sub, secret: text })
        // Atomic: of two tabs, one sets it up.
        return (await kit.records.insert(appKeyOf(sub), { sealed }, kit.now() + lifetime)) ? 'confirmed' : 'known'
      },
      async remove(sub, kit) {
        if ((await readApp(sub, kit)) === undefined) return false
        await removeAll(sub, kit)
        return true
      },
      async newCodes(sub, kit) {
        const created = newRecoveryCodes()
        await kit.records.put(codesKeyOf(sub), { hashes: created.map(({ hash }) => hash) }, kit.now() + lifetime)
        return created.map(({ code }) => code)
      },
    },
  }
}
