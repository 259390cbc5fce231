package seen.bench.flink;

import java.io.IOException;
import java.util.Arrays;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.types.StringValue;
import seen.bench.Exposure;

/** Exposures between tasks, without the reflection of a POJO's serializer. */
public final class ExposureType extends TypeInformation<Exposure> {
  @Override
  public boolean isBasicType() {
    return false;
  }

  @Override
  public boolean isTupleType() {
    return false;
  }

  @Override
  public int getArity() {
    return 1;
  }

  @Override
  public int getTotalFields() {
    return 1;
  }

  @Override
  public Class<Exposure> getTypeClass() {
    return Exposure.class;
  }

  @Override
  public boolean isKeyType() {
    return false;
  }

  @Override
  public TypeSerializer<Exposure> createSerializer(SerializerConfig config) {
    return Serializer.INSTANCE;
  }

  @Override
  public String toString() {
    return "Exposure";
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ExposureType;
  }

  @Override
  public int hashCode() {
    return 1;
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof ExposureType;
  }

  static final class Serializer extends TypeSerializerSingleton<Exposure> {
    static final Serializer INSTANCE = new Serializer();

    @Override
    public boolean isImmutableType() {
      return false;
    }

    @Override
    public Exposure createInstance() {
      return new Exposure();
    }

    @Override
    public Exposure copy(Exposure from) {
      return copy(from, new Exposure());
    }

    @Override
    public Exposure copy(Exposure from, Exposure to) {
      to.user = from.user;
      to.exposedAtMs = from.exposedAtMs;
      to.partition = from.partition;
      to.offset = from.offset;
      to.count = from.count;
      to.items = Arrays.copyOf(from.items, Math.max(1, from.count));
      return to;
    }

    @Override
    public int getLength() {
      return -1;
    }

    @Override
    public void serialize(Exposure exposure, DataOutputView to) throws IOException {
      StringValue.writeString(exposure.user, to);
      to.writeLong(exposure.exposedAtMs);
      to.writeShort(exposure.partition);
      to.writeLong(exposure.offset);
      to.writeShort(exposure.count);
      for (int i = 0; i < exposure.count; i++) to.writeLong(exposure.items[i]);
    }

    @Override
    public Exposure deserialize(DataInputView from) throws IOException {
      return deserialize(new Exposure(), from);
    }

    @Override
    public Exposure deserialize(Exposure exposure, DataInputView from) throws IOException {
      exposure.user = StringValue.readString(from);
      exposure.exposedAtMs = from.readLong();
      exposure.partition = from.readUnsignedShort();
      exposure.offset = from.readLong();
      exposure.count = from.readUnsignedShort();
      if (exposure.items.length < exposure.count)
        exposure.items = new long[exposure.count];
      for (int i = 0; i < exposure.count; i++) exposure.items[i] = from.readLong();
      return exposure;
    }

    @Override
    public void copy(DataInputView from, DataOutputView to) throws IOException {
      serialize(deserialize(from), to);
    }

    @Override
    public TypeSerializerSnapshot<Exposure> snapshotConfiguration() {
      return new Snapshot();
    }
  }

  /** Found by name when a checkpoint is restored. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<Exposure> {
    public Snapshot() {
      super(() -> Serializer.INSTANCE);
    }
  }
}
