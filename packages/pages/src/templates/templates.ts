import type { EndpointPages } from '@grantry/plugins/authorization-endpoint'
import type { DevicePages } from '@grantry/plugins/device-authorization'
import type { LogoutPages } from '@grantry/plugins/end-session'
import type { SignInPages } from '@grantry/plugins/sign-in'
import type { TemplatesOf } from '../page-set.ts'
import type { Tools } from '../tools.ts'
import { chooseAccount } from './choose-account.ts'
import { consent } from './consent.ts'
import { deviceCode } from './device-code.ts'
import { error } from './error.ts'
import { formPost } from './form-post.ts'
import { confirmLogout, signedOut, stillSignedIn } from './logout.ts'
import { secondFactor } from './second-factor.ts'
import { signIn } from './sign-in.ts'

/** The pages with these templates. */
export type SignInSet = SignInPages & EndpointPages & LogoutPages & DevicePages

/** The content of all pages. */
export type Templates = TemplatesOf<SignInSet, Tools>

export const templates: Templates = {
  signIn,
  secondFactor,
  consent,
  chooseAccount,
  deviceCode,
  error,
  formPost,
  confirmLogout,
  signedOut,
  stillSignedIn,
}
