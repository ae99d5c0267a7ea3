/** Makes npm packages of the botcli that a cloud is part of. */
export interface PlatformPacker {
  /** The version that is packed. */
  readonly version: string
  /** A text that is another one as soon as other packages would be made. */
  stamp(): Promise<string>
  /** Writes all packages as `botcli*.tgz` into an empty folder. What else it leaves there is removed. */
  pack(folder: string, signal: AbortSignal): Promise<void>
}
