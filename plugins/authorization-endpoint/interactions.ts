import type { Interactions, SuspendedInteraction } from './interaction.ts'
import { maxInteractionLifetime } from './standing.ts'
import type { Opened, Steps } from './steps.ts'
import { maxExtension, type SuspendedRequests } from './suspended.ts'
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

    async extend(interaction, expiresAt) {
      const opened = openedOf(interaction)
      const { suspended } = opened.visit
      if (suspended === undefined || suspended.record.expiresAt >= expiresAt) return interaction
      const { id, record } = suspended
      const last = Math.min(interaction.kit.now() + maxExtension, record.startedAt + maxInteractionLifetime)
      const end = Math.max(record.expiresAt, Math.min(expiresAt, last))
      const extended = { ...interaction, expiresAt: end }
      const later = { id, record: { ...record, expiresAt: end } }
      await suspendedRequests.update(interaction.kit, id, later.record)
      known.set(extended, { ...opened, visit: { ...opened.visit, suspended: later } })
      return extended
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
