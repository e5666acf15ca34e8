import {
  defineEndpoint,
  type EndpointKit,
  type EndpointRequest,
  type PluginPart,
  passwords,
  type Reply,
} from '@grantry/core'
import {
  chosenScopes,
  errorViewOf,
  type SuspendedInteraction,
} from '../authorization-endpoint/authorization-endpoint.ts'
import { scopeFieldOf } from '../shared/scope-choice.ts'
import { type FormFields, type FormServices, formParams } from './form-services.ts'
import { permits, type Step } from './form-token.ts'
import { attemptPasskey } from './passkey.ts'
import { attemptSignIn } from './password.ts'
import { attemptSecondFactor } from './second-factor.ts'
import { consentPage, endpointOf, expiredPage, signInPage } from './views.ts'

/** The functions for one form. */
interface Form {
  readonly step: Step
  readonly path: `/${string}`
  handle(fields: FormFields, interaction: SuspendedInteraction, services: FormServices): Promise<Reply>
  /** Shows the page again, with a new token. */
  retry(interaction: SuspendedInteraction, services: FormServices): Promise<Reply>
}

const signIn: Form = {
  step: 'sign_in',
  path: '/connect/signin',
  handle: (fields, interaction, services) =>
    (fields.credential === '' ? attemptSignIn : attemptPasskey)(fields, interaction, services),
  retry: (interaction, services) => signInPage(interaction, services, { problem: 'form_expired' }),
}

const secondFactor: Form = {
  step: 'second_factor',
  path: '/connect/secondfactor',
  handle: attemptSecondFactor,
  retry: signIn.retry,
}

/** Continues with the request: it shows the next page, or sends a code. */
const resumed = (interaction: SuspendedInteraction, { interactions }: FormServices): Reply => ({
  location: interactions.resumeUrl(interaction.kit, interaction.id),
})

const consent: Form = {
  step: 'consent',
  path: '/connect/consent',
  async handle(fields, interaction, services) {
    const { interactions, pages } = services
    // The user wants to use another account, and has decided nothing.
    if (fields.decision === 'switch') return signInPage(interaction, services)
    // Only the button allows: a form without it decides nothing.
    if (fields.decision !== 'allow') return resumed(interaction, services)
    const isTicked = (name: string): boolean => fields[scopeFieldOf(name)] === 'yes'
    const scopes = chosenScopes(interaction.request, isTicked)
    if (scopes !== undefined) return interactions.complete(interaction, { scopes, remember: true })
    return consentPage(interaction, pages, { problem: 'nothing_chosen', isTicked })
  },
  retry: async (interaction, services) => resumed(interaction, services),
}

const accountChoice: Form = {
  step: 'choose_account',
  path: '/connect/accounts',
  async handle({ account }, interaction, services) {
    if (account !== interaction.session?.sid) return signInPage(interaction, services)
    await services.interactions.proceed(interaction, { chosen: account })
    return resumed(interaction, services)
  },
  retry: async (interaction, services) => resumed(interaction, services),
}

async function submit(
  form: Form,
  fields: FormFields,
  http: EndpointRequest,
  kit: EndpointKit,
  services: FormServices,
): Promise<Reply> {
  const { interactions } = services
  const interaction = await interactions.find(kit, http, fields.interaction)
  if (interaction === undefined) return expiredPage(fields.request, http, kit, services)
  // The address that the browser shows after a form: a user can load it again.
  if (http.method !== 'POST') return resumed(interaction, services)
  if (fields.decision === 'cancel' || fields.decision === 'deny') {
    return interactions.refuse(interaction, 'access_denied')
  }
  const isPermitted = await permits(interaction, form.step, fields.form_token)
  return isPermitted ? form.handle(fields, interaction, services) : form.retry(interaction, services)
}

/** The endpoints that receive the forms of the pages. */
export const formEndpoints = (services: FormServices): readonly PluginPart[] =>
  [signIn, secondFactor, consent, accountChoice].map((form) =>
    defineEndpoint({
      name: endpointOf[form.step],
      path: form.path,
      methods: ['GET', 'POST'],
      caller: 'anyone',
      params: formParams,
      ...(form === signIn && services.passwords && { requires: [passwords] }),
      handle: ({ params: fields, request }, kit) => submit(form, fields, request, kit, services),
      async presentError(error, request, kit) {
        const locale = services.pages.localeOf(undefined, request.header('accept-language'))
        return services.pages.error(await errorViewOf(error, request, kit), locale)
      },
    }),
  )
