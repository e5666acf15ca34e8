import { configurationObject, type EndpointKit, type OptionsOf, parseConfiguration, webRuntime } from '@grantry/core'
import * as v from 'valibot'
import { functionSchema, requiredFunctionSchema } from '../shared/config-schema.ts'
import { keptRecord } from '../shared/kept-record.ts'
import type { SecondFactor } from '../shared/second-factor.ts'
import { typedCode } from '../shared/typed-code.ts'
import { encodeBase32 } from './base32.ts'

/** Seconds for which a used code is remembered: ten years. */
const memory = 315_360_000

/** Bytes of a code: 80 random bits cannot be guessed, also by someone who has read the hash. */
const length = 10

export const recoveryCodesSchema = configurationObject({
  /** Returns the hashes of the codes of a user, used ones included. */
  hashesOf: requiredFunctionSchema<(sub: string) => readonly string[] | Promise<readonly string[]>>(),
  /** Removes the hashes of a user, when an administrator resets the second factors. */
  reset: functionSchema<(sub: string) => void | Promise<void>>(),
})

export type RecoveryCodesOptions = OptionsOf<typeof recoveryCodesSchema>

/** Returns new codes for a user to write down, and the hashes to store. */
export const newRecoveryCodes = (count = 10): readonly { readonly code: string; readonly hash: string }[] =>
  Array.from({ length: count }, () => {
    const text = encodeBase32(webRuntime.randomBytes(length))
    const hash = webRuntime.base64url(webRuntime.sha256(new TextEncoder().encode(text)))
    return { code: text.replaceAll(/(.{4})(?=.)/gu, '$1-'), hash }
  })

const usedKeyOf = (sub: string, hash: string): string => `recovery:${sub}:${hash}`

/** Returns how many codes were not used. */
export async function countUnused(hashes: readonly string[], sub: string, kit: EndpointKit): Promise<number> {
  const used = await Promise.all(hashes.map((hash) => kit.records.get(usedKeyOf(sub, hash), v.boolean())))
  return used.filter((isUsed) => isUsed !== true).length
}

/** Removes what is stored of codes that are no longer valid. Remove their hashes first. */
export async function forgetUsed(hashes: readonly string[], sub: string, kit: EndpointKit): Promise<void> {
  await Promise.all(hashes.map((hash) => kit.records.delete(usedKeyOf(sub, hash))))
}

/** Whether the code is one of these, and is used for the first time. */
export async function verifyRecoveryCode(
  { hashes, sub, code }: { readonly hashes: readonly string[]; readonly sub: string; readonly code: string },
  kit: EndpointKit,
): Promise<boolean> {
  const hash = kit.sha256(typedCode(code).toUpperCase())
  const known = hashes.filter((stored) => kit.equals(stored, hash))
  return known.length > 0 && kit.records.insert(usedKeyOf(sub, hash), true, kit.now() + memory, keptRecord)
}

/**
 * Codes for a user who has lost the other factors, each accepted once. For `signIn({ secondFactors })`, after the other
 * factors.
 *
 * @throws TypeError when an option is malformed.
 */
export function recoveryCodes(options: RecoveryCodesOptions): SecondFactor {
  const { hashesOf, reset } = parseConfiguration(recoveryCodesSchema, options, 'recoveryCodes()')
  const hashesFor = (sub: string, kit: EndpointKit) => kit.callHost('recoveryCodes.hashesOf', () => hashesOf(sub))
  return {
    amr: 'otp',
    limitsHostCalls: true,
    isSetUp: async (sub, kit) => (await hashesFor(sub, kit)).length > 0,
    verify: async (sub, code, kit) => verifyRecoveryCode({ hashes: await hashesFor(sub, kit), sub, code }, kit),
    ...(reset !== undefined && { reset: (sub, kit) => kit.callHost('recoveryCodes.reset', () => reset(sub)) }),
  }
}
