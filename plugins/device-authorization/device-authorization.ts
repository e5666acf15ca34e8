import { definePlugin, type Plugin, parseConfiguration } from '@grantry/core'
import { type DeviceAuthorizationOptions, optionsSchema } from './device-options.ts'
import { deviceParts } from './device-parts.ts'

export { type DeviceAuthorizationOptions, deviceAuthorizationSchema } from './device-options.ts'
export type { DevicePage, NamedSubject } from './device-page-options.ts'
export type { DevicePages, DeviceView } from './device-pages.ts'
export { deviceGrantType } from './device-parts.ts'
export type { DevicePageProblem, DevicePageReply, DevicePageState } from './page-html.ts'
export { type DeviceSignInOptions, deviceSignIn } from './sign-in.ts'
export {
  type DeviceApproval,
  type DeviceRequest,
  type DeviceVerification,
  deviceVerification,
} from './verification.ts'

declare module '@grantry/core' {
  interface PluginEndpoints {
    deviceAuthorization: true
    deviceVerification: true
  }
}

/**
 * Device authorization: a device without a browser or keyboard shows a short code, which the user enters on another
 * device. With `page`, the plugin serves the page for it; otherwise your own page uses `provider.use(deviceVerification)`.
 *
 * @throws TypeError when an option is malformed.
 * @see RFC 8628
 */
export function deviceAuthorization(input: DeviceAuthorizationOptions): Plugin {
  const options = parseConfiguration(optionsSchema, input, 'deviceAuthorization()')
  return definePlugin('device-authorization', deviceParts(options))
}
