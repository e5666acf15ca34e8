// oidc-provider on ioredis, with the layout and commands of the Redis adapter in its documentation: a transaction for
// each write, hashes for what can be consumed, and a list of keys for each grant.
import { Redis } from 'ioredis'
import { readSetting } from '../setting.ts'
import { serveOidcProvider } from './oidc-provider-server.ts'

const setting = readSetting()
const redis = new Redis(setting.storeUrl ?? '', { keyPrefix: 'oidc:' })

const consumable = new Set(['AuthorizationCode', 'RefreshToken', 'DeviceCode', 'BackchannelAuthenticationRequest'])
const grantable = new Set([...consumable, 'AccessToken'])

interface Payload {
  readonly grantId?: string
  readonly userCode?: string
  readonly uid?: string
}

const grantKeyOf = (id: string): string => `grant:${id}`

function redisAdapter(model: string) {
  const isConsumable = consumable.has(model)
  const keyOf = (id: string): string => `${model}:${id}`

  async function find(id: string) {
    if (!isConsumable) {
      const text = await redis.get(keyOf(id))
      return text === null ? undefined : JSON.parse(text)
    }
    const { payload, ...rest } = await redis.hgetall(keyOf(id))
    return payload === undefined ? undefined : { ...rest, ...JSON.parse(payload) }
  }

  const findBy = async (reference: string) => {
    const id = await redis.get(reference)
    return id === null ? undefined : find(id)
  }

  return {
    async upsert(id: string, payload: Payload, expiresIn?: number) {
      const { grantId, userCode, uid } = payload
      const key = keyOf(id)
      const text = JSON.stringify(payload)
      const transaction = redis.multi()
      if (isConsumable) transaction.hmset(key, { payload: text })
      else transaction.set(key, text)
      if (expiresIn) transaction.expire(key, expiresIn)
      if (grantable.has(model) && grantId) {
        const grantKey = grantKeyOf(grantId)
        transaction.rpush(grantKey, key)
        // The list lives as long as its longest member.
        const remaining = await redis.ttl(grantKey)
        if (expiresIn && expiresIn > remaining) transaction.expire(grantKey, expiresIn)
      }
      for (const [kind, value] of Object.entries({ userCode, uid })) {
        if (value === undefined) continue
        transaction.set(`${kind}:${value}`, id)
        if (expiresIn) transaction.expire(`${kind}:${value}`, expiresIn)
      }
      await transaction.exec()
    },
    find,
    findByUid: (uid: string) => findBy(`uid:${uid}`),
    findByUserCode: (userCode: string) => findBy(`userCode:${userCode}`),
    async destroy(id: string) {
      await redis.del(keyOf(id))
    },
    async consume(id: string) {
      await redis.hset(keyOf(id), 'consumed', Math.floor(Date.now() / 1000))
    },
    async revokeByGrantId(grantId: string) {
      const keys = await redis.lrange(grantKeyOf(grantId), 0, -1)
      const transaction = redis.multi()
      for (const key of keys) transaction.del(key)
      transaction.del(grantKeyOf(grantId))
      await transaction.exec()
    },
  }
}

serveOidcProvider(setting, redisAdapter)
