// The service behind a binding of D1: the client in workerd is the real one, and this performs its statements on the
// SQLite of a Durable Object, one batch in one transaction, as the local simulator of Cloudflare does.
type Value = string | number | null | ArrayBuffer

interface Cursor {
  readonly columnNames: string[]
  raw(): Iterable<Value[]>
}

interface State {
  readonly storage: {
    readonly sql: { exec(statement: string, ...values: unknown[]): Cursor }
    transactionSync<T>(act: () => T): T
  }
}

interface Query {
  readonly sql: string
  readonly params?: readonly unknown[]
}

// The client sends bytes as arrays of numbers, and expects them so.
const sent = (value: unknown): unknown => (Array.isArray(value) ? Uint8Array.from(value) : value)
const returned = (value: Value): unknown => (value instanceof ArrayBuffer ? [...new Uint8Array(value)] : value)

export class DatabaseObject {
  private readonly storage: State['storage']

  constructor({ storage }: State) {
    this.storage = storage
  }

  private query({ sql, params = [] }: Query): object {
    const cursor = this.storage.sql.exec(sql, ...params.map(sent))
    const columns = cursor.columnNames
    return { success: true, meta: {}, results: { columns, rows: [...cursor.raw()].map((row) => row.map(returned)) } }
  }

  async fetch(request: Request): Promise<Response> {
    const sent: Query | readonly Query[] = await request.json()
    const queries = Array.isArray(sent) ? (sent as readonly Query[]) : [sent as Query]
    try {
      return Response.json(this.storage.transactionSync(() => queries.map((query) => this.query(query))))
    } catch (error) {
      return Response.json({ success: false, error: (error as Error).message }, { status: 500 })
    }
  }
}

interface Environment {
  readonly DATABASE: {
    idFromName(name: string): object
    get(id: object): { fetch(request: Request): Promise<Response> }
  }
}

const worker = {
  fetch: (request: Request, { DATABASE }: Environment): Promise<Response> =>
    DATABASE.get(DATABASE.idFromName('d1')).fetch(request),
}

// workerd requires a default export.
export default worker
