import { configurationObject, type EndpointKit, type OptionsOf, parseConfiguration } from '@grantry/core'
import * as v from 'valibot'
import type { AccountSecondFactors } from '../shared/account-factors.ts'
import { keptRecord } from '../shared/kept-record.ts'
import { markRemoval, removalMark, unlessMarked } from '../shared/removal-mark.ts'
import { createSafe, encryptionSecretsSchema, type Safe } from '../shared/safe.ts'
import type { SecondFactor } from '../shared/second-factor.ts'
import { countUnused, forgetUsed, newRecoveryCodes, verifyRecoveryCode } from './recovery-codes.ts'
import { newTotpSecret, totpUri, usualTolerance, verifyTotp } from './totp.ts'

/** One-time passwords and recovery codes in the storage of the provider. */
export interface StoredSecondFactors {
  /** For `signIn({ secondFactors })`. */
  readonly factors: readonly SecondFactor[]
  /** For `accountPage({ secondFactors })`. */
  readonly account: AccountSecondFactors
}

export const storedSecondFactorsSchema = configurationObject({
  /**
   * Encrypt the secrets of the apps: at least 32 characters each. The first one encrypts, all decrypt. Without the
   * right one, users cannot sign in with their apps.
   */
  encryptionSecrets: encryptionSecretsSchema,
})

export type StoredSecondFactorsOptions = OptionsOf<typeof storedSecondFactorsSchema>

/** Seconds: ten years. */
const lifetime = 315_360_000

const appSchema = v.object({ sealed: v.string(), ...removalMark })
const opened = v.object({ sub: v.string(), secret: v.string() })
const codesSchema = v.object({ hashes: v.array(v.string()) })

const appKeyOf = (sub: string): string => `authenticator app of ${sub}`
const codesKeyOf = (sub: string): string => `recovery codes of ${sub}`

/** The sealed text contains the user, so that a record cannot be moved to another user. */
async function secretIn({ sealed }: v.InferOutput<typeof appSchema>, sub: string, safe: Safe) {
  const content = await safe.open(sealed, opened)
  return content?.sub === sub ? content.secret : undefined
}

/** Also returns an app that is being removed: a sign-in asks for it until it is deleted. */
const readApp = (sub: string, kit: EndpointKit) => kit.records.get(appKeyOf(sub), appSchema)
const readHashes = async (sub: string, kit: EndpointKit) =>
  (await kit.records.get(codesKeyOf(sub), codesSchema))?.hashes ?? []

/** Records that cannot be read are removed, too, but not counted. */
const unread = (): undefined => undefined

async function removeApp(sub: string, kit: EndpointKit) {
  const app = await readApp(sub, kit).catch(unread)
  await kit.records.delete(appKeyOf(sub))
  return { apps: app === undefined ? 0 : 1 }
}

async function removeCodes(sub: string, kit: EndpointKit) {
  const hashes = (await readHashes(sub, kit).catch(unread)) ?? []
  // The result has the codes that still counted.
  const left = await countUnused(hashes, sub, kit).catch(unread)
  await kit.records.delete(codesKeyOf(sub))
  await forgetUsed(hashes, sub, kit)
  return { recoveryCodes: left ?? hashes.length }
}

/** Replaces the hashes of recovery codes. `false` if others are there, or none any more. */
async function replaceHashes(
  sub: string,
  former: readonly string[],
  hashes: readonly string[],
  { records, now }: EndpointKit,
): Promise<boolean> {
  let isReplaced = false
  await records.update(codesKeyOf(sub), codesSchema, (present) => {
    isReplaced = JSON.stringify(present?.hashes ?? []) === JSON.stringify(former)
    return isReplaced ? { value: { hashes: [...hashes] }, expiresAt: now() + lifetime, ...keptRecord } : undefined
  })
  return isReplaced
}

/**
 * Whether the code is a recovery code of the user. Reads its hash again, because codes that were replaced meanwhile are
 * not valid.
 */
async function isRecoveryCode(sub: string, code: string, kit: EndpointKit): Promise<boolean> {
  const hashes = await readHashes(sub, kit)
  if (!(await verifyRecoveryCode({ hashes, sub, code }, kit))) return false
  const current = await readHashes(sub, kit)
  return current.length > 0 && current.every((hash) => hashes.includes(hash))
}

/**
 * One-time passwords and recovery codes that users set up on their account page, in the storage of the provider.
 *
 * @throws TypeError when an option is malformed.
 */
export function storedSecondFactors(options: StoredSecondFactorsOptions): StoredSecondFactors {
  const { encryptionSecrets } = parseConfiguration(storedSecondFactorsSchema, options, 'storedSecondFactors()')
  const safe = createSafe(encryptionSecrets, 'authenticator apps')
  const app: SecondFactor = {
    amr: 'otp',
    limitsHostCalls: true,
    // `true` even if the secret cannot be decrypted: the factor must not vanish with the secret of the operator.
    isSetUp: async (sub, kit) => (await readApp(sub, kit)) !== undefined,
    async verify(sub, code, kit) {
      const stored = await readApp(sub, kit)
      const secret = stored && (await secretIn(stored, sub, safe))
      return secret !== undefined && verifyTotp({ secret, sub, code }, kit, usualTolerance)
    },
    reset: removeApp,
  }
  const codes: SecondFactor = {
    amr: 'otp',
    limitsHostCalls: true,
    isSetUp: async (sub, kit) => (await readHashes(sub, kit)).length > 0,
    verify: isRecoveryCode,
    reset: removeCodes,
  }
  const factors = [app, codes]
  return {
    factors,
    account: {
      factors,
      async state(sub, kit) {
        const [stored, hashes] = await Promise.all([readApp(sub, kit), readHashes(sub, kit)])
        const codesLeft = await countUnused(hashes, sub, kit)
        const app = unlessMarked(stored) !== undefined
        return { app, removing: stored !== undefined && !app, codes: codesLeft > 0, codesLeft }
      },
      newSecret: newTotpSecret,
      uriOf: totpUri,
      async confirm({ sub, secret: text, code, beforeStored }, kit) {
        if ((await readApp(sub, kit)) !== undefined) return 'known'
        if (!(await verifyTotp({ secret: text, sub, code }, kit, usualTolerance))) return 'wrong_code'
        const sealed = await safe.seal({ sub, secret: text })
        await beforeStored?.()
        // Atomic: of two tabs, one sets it up.
        return (await kit.records.insert(appKeyOf(sub), { sealed }, kit.now() + lifetime, keptRecord))
          ? 'confirmed'
          : 'known'
      },
      async remove(sub, kit, { isStillAllowed, secret } = {}) {
        const stored = await readApp(sub, kit)
        if (secret !== undefined && stored !== undefined && (await secretIn(stored, sub, safe)) !== secret) return false
        if (isStillAllowed !== undefined) {
          if (stored === undefined || stored.removing !== undefined) return false
          const isSame = ({ sealed }: typeof stored) => sealed === stored.sealed
          const marked = { key: appKeyOf(sub), schema: appSchema, isSame, endsAt: kit.now() + lifetime }
          if (!(await markRemoval(kit, marked, isStillAllowed))) return false
          // A reset has removed it meanwhile: an app that is not marked is a new one.
          if ((await readApp(sub, kit))?.removing === undefined) return false
        }
        await Promise.all([removeApp(sub, kit), removeCodes(sub, kit)])
        return stored !== undefined
      },
      async newCodes(sub, kit, isStillAllowed) {
        const created = newRecoveryCodes()
        const earlier = await readHashes(sub, kit)
        const hashes = created.map(({ hash }) => hash)
        if (!(await replaceHashes(sub, earlier, hashes, kit))) return []
        let mayStay = isStillAllowed === undefined
        try {
          mayStay ||= (await isStillAllowed?.()) === true
        } finally {
          if (!mayStay) await replaceHashes(sub, hashes, earlier, kit)
        }
        if (!mayStay) return []
        await forgetUsed(earlier, sub, kit)
        return created.map(({ code }) => code)
      },
    },
  }
}
