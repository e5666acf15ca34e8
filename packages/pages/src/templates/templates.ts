import { chooseAccount } from './choose-account.ts'
import { consent } from './consent.ts'
import { deviceCode } from './device-code.ts'
import { error } from './error.ts'
import { formPost } from './form-post.ts'
import { confirmLogout, signedOut, stillSignedIn } from './logout.ts'
import { secondFactor } from './second-factor.ts'
import { signIn } from './sign-in.ts'

/** The content of all pages. */
export const templates = {
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

export type Templates = typeof templates
