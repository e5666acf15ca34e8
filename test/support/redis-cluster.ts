import { pause } from './pause.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { reservedPort } from './reserved-port.ts'

/** Seconds for the nodes to agree; they gossip once a second. */
const timeLimit = 60
const slotCount = 16_384

export interface RedisCluster {
  /** The primaries first, then the replicas. */
  readonly nodes: RedisServer[]
  readonly urls: string[]
  stop(): Promise<void>
}

interface Node {
  readonly server: RedisServer
  readonly busPort: number
}

async function startNode(): Promise<Node> {
  const busPort = await reservedPort()
  const server = await startRedis({
    arguments: [
      ...['--cluster-enabled', 'yes', '--cluster-port', String(busPort), '--cluster-node-timeout', '2000'],
      // A replica that has not synced for long may take over as well: tests cannot wait.
      ...['--cluster-replica-validity-factor', '0'],
    ],
  })
  return { server, busPort }
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + timeLimit * 1000
  while (!(await isSo())) {
    if (Date.now() > deadline)
      throw new Error(`The Redis cluster did not reach this state within ${timeLimit} s: ${what}`)
    await pause(100)
  }
}

const infoOf = async (server: RedisServer): Promise<string> => String(await server.command('CLUSTER', 'INFO'))

/** A Redis Cluster on loopback in which every node reports a healthy state. */
export async function startRedisCluster(primaries = 3, replicas = 0): Promise<RedisCluster> {
  const started = await Promise.allSettled(Array.from({ length: primaries + replicas }, startNode))
  const all = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const nodes = all.map(({ server }) => server)
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()))
  }
  try {
    const failed = started.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    const [first] = all as [Node]
    for (const [index, { server }] of all.entries()) {
      // Nodes with equal epochs conflict over their slots.
      await server.command('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
      const from = Math.floor((index * slotCount) / primaries)
      const to = Math.floor(((index + 1) * slotCount) / primaries) - 1
      if (index < primaries) await server.command('CLUSTER', 'ADDSLOTSRANGE', from, to)
      if (index > 0) await server.command('CLUSTER', 'MEET', '127.0.0.1', first.server.port, first.busPort)
    }
    await until('every node knows every node', async () => {
      const infos = await Promise.all(nodes.map(infoOf))
      return infos.every((info) => info.includes(`cluster_known_nodes:${nodes.length}\r`))
    })
    for (const [index, replica] of nodes.slice(primaries).entries()) {
      const id = await (nodes[index % primaries] as RedisServer).command('CLUSTER', 'MYID')
      await replica.command('CLUSTER', 'REPLICATE', String(id))
      await until('the replica is in step', async () =>
        String(await replica.command('INFO', 'replication')).includes('master_link_status:up'),
      )
    }
    await until('cluster_state is ok everywhere', async () =>
      (await Promise.all(nodes.map(infoOf))).every((info) => info.includes('cluster_state:ok')),
    )
  } catch (error) {
    await stop()
    throw error
  }
  return { nodes, urls: nodes.map(({ url }) => url), stop }
}
