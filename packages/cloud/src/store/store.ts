import type { BuildFailure, BuildStatus, KeyFamily } from '@botcli/protocol/cloud'

/** Times are milliseconds since 1970. */
export type Time = number

export interface Organization {
  readonly id: string
  readonly name: string
  readonly defaultRegion: string
  readonly createdAt: Time
}

export interface StoredKey {
  readonly id: string
  readonly organizationId: string
  readonly family: KeyFamily
  readonly name: string
  readonly prefix: string
  /** sha256 of the key, in hex. Keys are random and long, so that nothing slower is needed. */
  readonly hash: string
  readonly createdAt: Time
  readonly lastUsedAt: Time | null
  readonly revokedAt: Time | null
}

/** A place for a context that is to be uploaded. */
export interface Upload {
  readonly id: string
  readonly organizationId: string
  readonly region: string
  readonly expiresAt: Time
  /** There once it was received and checked. */
  readonly contextHash: string | null
  readonly contextSizeBytes: number | null
  readonly createdAt: Time
}

export interface StoredBuild {
  readonly id: string
  readonly organizationId: string
  readonly status: BuildStatus
  readonly region: string
  readonly uploadId: string
  readonly contextHash: string
  readonly contextSizeBytes: number
  readonly dockerfilePath: string
  readonly noCache: boolean
  readonly imageUri: string | null
  readonly imageSizeBytes: number | null
  readonly errorMessage: string | null
  readonly failure: BuildFailure | null
  /** Whether somebody asked for its end. */
  readonly cancelRequested: boolean
  readonly createdAt: Time
  readonly updatedAt: Time
  readonly startedAt: Time | null
  readonly completedAt: Time | null
}

/** The end of a build. */
export interface BuildEnd {
  readonly status: 'success' | 'failed' | 'timeout'
  readonly imageUri: string | null
  readonly imageSizeBytes: number | null
  readonly errorMessage: string | null
  readonly failure: BuildFailure | null
}

export interface BuildFilter {
  readonly status?: BuildStatus
  readonly region?: string
  readonly contextHash?: string
  readonly dockerfilePath?: string
}

export interface StoredSecretSet {
  readonly organizationId: string
  readonly name: string
  readonly type: 'secret' | 'imagePullSecret'
  readonly region: string
  readonly createdAt: Time
  readonly updatedAt: Time
}

export interface StoredSecret {
  readonly key: string
  /** Sealed by the SecretBox; the store never sees a value. */
  readonly sealed: Uint8Array
  readonly updatedAt: Time
}

/**
 * What the control plane remembers. Every method is one transaction. SQLite on one machine, Postgres when one is too small; nothing above
 * knows which.
 */
export interface Store {
  organizations: {
    create(organization: Organization): Promise<void>
    get(id: string): Promise<Organization | undefined>
    first(): Promise<Organization | undefined>
    setDefaultRegion(id: string, region: string): Promise<void>
  }
  keys: {
    create(key: StoredKey): Promise<void>
    byHash(hash: string): Promise<StoredKey | undefined>
    list(organizationId: string): Promise<readonly StoredKey[]>
    touch(id: string, at: Time): Promise<void>
    /** False if there is no such key of this organization, or it was revoked before. */
    revoke(organizationId: string, id: string, at: Time): Promise<boolean>
  }
  uploads: {
    create(upload: Upload): Promise<void>
    get(organizationId: string, id: string): Promise<Upload | undefined>
    received(id: string, contextHash: string, contextSizeBytes: number): Promise<void>
    /** Uploads that no build uses and whose time is up. */
    expired(now: Time, limit: number): Promise<readonly Upload[]>
    remove(id: string): Promise<void>
  }
  builds: {
    create(build: StoredBuild): Promise<void>
    get(organizationId: string, id: string): Promise<StoredBuild | undefined>
    list(
      organizationId: string,
      filter: BuildFilter,
      page: {
        readonly limit: number
        readonly offset: number
        readonly before?: { readonly createdAt: Time; readonly id: string }
      },
    ): Promise<{ readonly builds: readonly StoredBuild[]; readonly total: number }>
    /** The newest successful build of the same thing. */
    cached(
      organizationId: string,
      same: {
        readonly contextHash: string
        readonly region: string
        readonly dockerfilePath: string
        readonly builder: string
      },
    ): Promise<StoredBuild | undefined>
    /** Takes the oldest pending build whose organization has room, and leases it to an owner. */
    lease(owner: string, now: Time, until: Time, perOrganization: number): Promise<StoredBuild | undefined>
    /** False if the lease was lost; then the owner must stop. */
    renew(id: string, owner: string, until: Time): Promise<boolean>
    /** Builds in `building` whose lease is over. */
    abandoned(now: Time): Promise<readonly StoredBuild[]>
    requestCancel(organizationId: string, id: string, at: Time): Promise<StoredBuild | undefined>
    /** Ends a build once; false if it was over before. */
    finish(id: string, end: BuildEnd, at: Time): Promise<boolean>
    remove(organizationId: string, id: string): Promise<boolean>
  }
  secrets: {
    put(set: StoredSecretSet, secrets: readonly StoredSecret[]): Promise<void>
    sets(organizationId: string): Promise<readonly StoredSecretSet[]>
    set(organizationId: string, name: string): Promise<StoredSecretSet | undefined>
    secrets(organizationId: string, name: string): Promise<readonly StoredSecret[]>
    removeSet(organizationId: string, name: string): Promise<boolean>
    removeSecret(organizationId: string, name: string, key: string): Promise<boolean>
  }
  close(): Promise<void>
}
