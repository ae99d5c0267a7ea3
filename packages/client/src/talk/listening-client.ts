import { LogLevel, PipecatClient, type PipecatClientOptions, type RTVIMessage } from '@pipecat-ai/client-js'

/** The published client, which also tells of the messages that it does not know itself. */
export class ListeningClient extends PipecatClient {
  readonly #heard: (message: RTVIMessage) => void

  constructor(options: PipecatClientOptions, heard: (message: RTVIMessage) => void) {
    super(options)
    this.#heard = heard
    this.setLogLevel(LogLevel.ERROR)
  }

  protected override handleMessage(message: RTVIMessage): void {
    this.#heard(message)
    super.handleMessage(message)
  }
}
