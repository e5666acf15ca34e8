import type { EndpointRequest, HtmlSources } from '@grantry/core'
import { clientView } from '../shared/client-members.ts'
import { portSchema } from '../shared/config-schema.ts'
import { type DescribedClient, describedClient } from '../shared/described-client.ts'
import type { ClientView } from '../sign-in/sign-in.ts'
import type { DevicePageReply, DevicePageState } from './page-html.ts'

/** The states of the page, without the user who is signed in. */
export type DeviceView =
  | Exclude<DevicePageState, { readonly step: 'confirm' | 'signed_out' }>
  | (Extract<DevicePageState, { readonly step: 'signed_out' }> & {
      /** The URL of the page, or of another sign-in. */
      readonly again: string
    })
  | (Omit<Extract<DevicePageState, { readonly step: 'confirm' }>, 'client' | 'subject' | 'name'> & {
      readonly client: ClientView
      readonly subjectName?: string | undefined
      /** The origin of a self-described application. */
      readonly described?: DescribedClient | undefined
      /** A link to sign in with another account, and decide then. */
      readonly otherAccount?: string | undefined
    })

/** The pages of a device authorization. `createPages()` of `@grantry/pages` has them. Escape every text. */
export interface DevicePages {
  /** Chooses a language. @param uiLocales the parameter `ui_locales` */
  localeOf(uiLocales: string | undefined, acceptLanguage: string | null): string
  deviceCode(view: DeviceView, locale: string): { readonly html: string; readonly sources?: HtmlSources | undefined }
}

export const devicePagesSchema = portSchema<DevicePages>('the pages of createPages()', {
  localeOf: true,
  deviceCode: true,
})

/**
 * Returns a function that shows the states of the page.
 *
 * @param path that of the page
 * @param otherAccount returns a link for another account
 */
export function rendererOf(pages: DevicePages, path: string, otherAccount?: (userCode: string) => string) {
  function viewOf(state: DevicePageState): DeviceView {
    if (state.step === 'signed_out') {
      const { insufficientFor: userCode } = state
      const otherSignIn = userCode === undefined ? undefined : otherAccount?.(userCode)
      return { ...state, again: otherSignIn ?? path.slice(path.lastIndexOf('/') + 1) }
    }
    if (state.step !== 'confirm') return state
    const { client, subject: _, name: subjectName, ...view } = state
    const described = describedClient(client)
    return { ...view, client: clientView(client), described, subjectName, otherAccount: otherAccount?.(view.userCode) }
  }
  return (state: DevicePageState, request: EndpointRequest): DevicePageReply =>
    pages.deviceCode(viewOf(state), pages.localeOf(undefined, request.header('accept-language')))
}
