// oidc-provider with a map as its store.
import { readSetting } from '../setting.ts'
import { serveOidcProvider } from './oidc-provider-server.ts'

interface Payload {
  readonly grantId?: string
  readonly uid?: string
  consumed?: number
}

/** Stores objects, which is cheaper than JSON in an external store. */
function mapAdapter() {
  const store = new Map<string, Payload>()
  const ids = new Map<string, string>()
  return {
    async upsert(id: string, payload: Payload) {
      store.set(id, payload)
      if (payload.uid !== undefined) ids.set(payload.uid, id)
    },
    find: async (id: string) => store.get(id),
    findByUid: async (uid: string) => store.get(ids.get(uid) ?? ''),
    findByUserCode: async () => undefined,
    async destroy(id: string) {
      store.delete(id)
    },
    async consume(id: string) {
      const payload = store.get(id)
      if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000)
    },
    async revokeByGrantId(grantId: string) {
      for (const [id, payload] of store) if (payload.grantId === grantId) store.delete(id)
    },
  }
}

serveOidcProvider(readSetting(), mapAdapter)
