import type { PluginPart } from '@grantry/core'
import { errorViewOf, standingOf } from '../authorization-endpoint/authorization-endpoint.ts'
import { beginProved } from './begin-session.ts'
import type { FormServices } from './form-services.ts'
import { askForSecondFactor, hasSecondFactor } from './second-factor.ts'
import { expiredPage, signInPage } from './views.ts'
import { linkByAddress, type SignInTools } from './ways.ts'

function createSignInTools(services: FormServices): SignInTools {
  const { pages } = services
  return {
    interactions: services.interactions,
    sessions: services.sessions,
    async signIn({ subject, name, provesTime, standing: earlier, confirm, pending }, interaction) {
      const { kit } = interaction
      const { sub } = subject
      // Read first, before everything else is read again.
      const standing = earlier ?? (await standingOf(kit, sub))
      if ((await confirm?.()) === false) return signInPage(interaction, services, { problem: 'form_expired' })
      const needsSecondFactor = await hasSecondFactor(sub, kit, services.secondFactors)
      const user = { subject, name, provesTime, needsSecondFactor, standing, pending, staySignedIn: false }
      return (
        (await askForSecondFactor(user, interaction, services)) ?? beginProved(user, pending, interaction, services)
      )
    },
    hasSecondFactor: (sub, kit) => hasSecondFactor(sub, kit, services.secondFactors),
    byAddress: (address, interaction) => linkByAddress(interaction, services)?.(address),
    isElsewhere: (address) => services.ways.some((way) => way.ownsAddress?.(address) === true),
    show: (interaction, problem, provider) => signInPage(interaction, services, { problem, provider }),
    expired: (http, kit) => expiredPage(undefined, http, kit, services),
    presentError: async (error, http, kit) =>
      pages.error(await errorViewOf(error, http, kit), pages.localeOf(undefined, http.header('accept-language'))),
  }
}

/** The parts of the ways to sign in besides the password. */
export const wayParts = (services: FormServices): readonly PluginPart[] => {
  const tools = createSignInTools(services)
  return services.ways.flatMap((way) => way.parts(tools))
}
