import type { Interactions, SuspendedInteraction } from './interaction.ts'
import type { Opened, Steps } from './steps.ts'
import type { SuspendedRequests } from './suspended.ts'
import { suspensionOf } from './visit.ts'

/** Creates what the endpoints of an interaction use. */
export function createInteractionServices(
  steps: Pick<Steps, 'find' | 'complete' | 'refuse'>,
  suspendedRequests: Pick<SuspendedRequests, 'update'>,
): Interactions {
  const known = new WeakMap<SuspendedInteraction, Opened>()

  const openedOf = (interaction: SuspendedInteraction): Opened => {
    const opened = known.get(interaction)
    if (opened === undefined) throw new TypeError('The interaction does not come from find()')
    return opened
  }

  return {
    resumeUrl: (kit, id) => `${kit.endpointUrl('authorizationResume')}?${new URLSearchParams({ interaction: id })}`,

    async find(kit, http, id) {
      const opened = await steps.find(id, http, kit)
      if (opened?.visit.suspended === undefined) return undefined
      const interaction = { ...opened.interaction, ...suspensionOf(opened.visit.suspended) }
      known.set(interaction, opened)
      return interaction
    },

    async proceed(interaction, { signedIn, chosen }) {
      const { suspended } = openedOf(interaction).visit
      if (suspended === undefined) return
      const progress = {
        ...suspended.record.progress,
        ...(signedIn !== undefined && { signedIn }),
        ...(chosen !== undefined && { chosen }),
      }
      await suspendedRequests.update(interaction.kit, suspended.id, { ...suspended.record, progress })
    },

    complete: async (interaction, decision) => steps.complete(decision, openedOf(interaction)),
    refuse: async (interaction, code) => steps.refuse(code, openedOf(interaction)),
  }
}
