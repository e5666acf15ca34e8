import * as v from 'valibot'
import type { InteractionServices } from '../authorization-endpoint/authorization-endpoint.ts'
import type { PasskeyCheck } from '../shared/passkey-check.ts'
import type { SecondFactor } from '../shared/second-factor.ts'
import type { SignInPages } from './sign-in-pages.ts'
import type { OfferedWays } from './ways.ts'

export interface FormServices extends InteractionServices, OfferedWays {
  readonly pages: SignInPages
  readonly passkeys?: PasskeyCheck | undefined
  /** The `acr` of a sign-in by password. */
  readonly acr?: string | undefined
  readonly secondFactors: readonly SecondFactor[]
  /** The `acr` of a sign-in with a second factor. */
  readonly secondFactorAcr?: string | undefined
}

const text = v.optional(v.string(), '')

/** The fields of all forms. The others are those of `scopeFieldOf`. */
const formEntries = {
  interaction: text,
  request: text,
  form_token: text,
  decision: text,
  username: text,
  password: text,
  account: text,
  code: text,
  passed: text,
  credential: text,
  stay_signed_in: text,
}
export const formParams = v.objectWithRest(formEntries, v.string())
export type FormFields = v.InferOutput<typeof formParams>
