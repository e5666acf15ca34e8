import type { Decisions } from './decision.ts'
import type { Interactions, SuspendedInteraction } from './interaction.ts'
import type { OpenInteractionFor } from './open-interaction.ts'
import type { EndpointPages } from './pages.ts'
import { codeResponse, errorResponse, responseTools, type Target } from './response.ts'
import type { SuspendedRecord, SuspendedRequests } from './suspended.ts'
import { findTarget } from './target.ts'
import { suspendedVisit, suspensionOf, type Visit } from './visit.ts'

/** What `find` knows about an interaction besides what it returns. */
interface Found {
  readonly visit: Visit
  readonly target: Target
  readonly record: SuspendedRecord
}

/** Creates what the endpoints of an interaction use. */
export function createInteractionServices(deps: {
  readonly pages: EndpointPages
  readonly openInteraction: OpenInteractionFor
  readonly decisions: Decisions
  readonly suspendedRequests: SuspendedRequests
}): Interactions {
  const { pages, openInteraction, decisions, suspendedRequests } = deps
  const known = new WeakMap<SuspendedInteraction, Found>()

  const foundOf = (interaction: SuspendedInteraction): Found => {
    const found = known.get(interaction)
    if (found === undefined) throw new TypeError('The interaction does not come from find()')
    return found
  }

  return {
    resumeUrl: (kit, id) => `${kit.endpointUrl('authorizationResume')}?${new URLSearchParams({ interaction: id })}`,

    async find(kit, http, id) {
      const visit = await suspendedVisit(suspendedRequests, id, http, kit)
      if (visit?.suspended === undefined) return undefined
      const target = await findTarget(visit.params, kit)
      const interaction = { ...(await openInteraction(visit, target)), ...suspensionOf(visit.suspended) }
      known.set(interaction, { visit, target, record: visit.suspended.record })
      return interaction
    },

    async proceed(interaction, { signedIn, chosen }) {
      const { record } = foundOf(interaction)
      const { kit, id } = interaction
      const progress = {
        ...record.progress,
        ...(signedIn !== undefined && { signedIn }),
        ...(chosen !== undefined && { chosen }),
      }
      await suspendedRequests.update(kit, id, { ...record, progress })
    },

    async complete(interaction, decision) {
      const { visit, target } = foundOf(interaction)
      const tools = responseTools(pages, visit)
      try {
        const { code, cookies } = await decisions.decide({ ...decision, asked: true }, interaction, visit)
        return { cookies, ...codeResponse(target, code, tools) }
      } catch (error) {
        return errorResponse(target, error, tools)
      }
    },

    async refuse(interaction, refusal) {
      const { visit, target } = foundOf(interaction)
      const tools = responseTools(pages, visit)
      try {
        return await decisions.refuse(refusal, interaction, visit)
      } catch (error) {
        return errorResponse(target, error, tools)
      }
    },
  }
}
